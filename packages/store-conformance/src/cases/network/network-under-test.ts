import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type CapturedEvent, type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { describeError, sameContent } from '../../checks/expectations.ts';
import { dispatchId, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvents } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { lacksMeans, skipCase } from '../../run/conformance-case.ts';
import { NetworkProxy } from './proxy.ts';

/** A secret that no error may show: it is in every text of these cases. */
const secret = 'kept-out-of-errors';

/** A store that reaches its server through the proxy of the kit. */
export class Network {
  readonly proxy: NetworkProxy;
  readonly store: DispatchStoreProvider;
  /** How long a call may take while the server does not answer, in milliseconds. */
  readonly limitMs: number;
  /** How long a case repeats a call whose failure passes by itself. */
  readonly outageMs: number;

  private constructor(proxy: NetworkProxy, store: DispatchStoreProvider, limitMs: number) {
    this.proxy = proxy;
    this.store = store;
    this.limitMs = limitMs;
    this.outageMs = 2 * limitMs;
  }

  static async open(context: CaseContext): Promise<Network> {
    const { network, store: direct, hasServer } = context;
    if (network === undefined && hasServer)
      lacksMeans('outages of the server', 'the fixture has no `network`, so the kit cannot cut a connection');
    if (network === undefined) skipCase('the store has no server');
    const proxy = await NetworkProxy.start(network);
    context.atEnd(() => proxy.close());
    if (context.capabilities.writers === 'process') await direct.close();
    const store = await network.open(proxy.address);
    const { answerMs = 30_000, slackMs = 10_000 } = network;
    const opened = new Network(proxy, store, answerMs + slackMs);
    context.atEnd(async () => {
      proxy.heal();
      await opened.settles('`close`', () => store.close());
    });
    return opened;
  }

  /** Fails if a call does not settle in the time that the store states. */
  async settles<Answer>(what: string, call: () => Answer): Promise<Awaited<Answer>> {
    const limit = this.limitMs;
    const late = new AbortController();
    const tooLate = setTimeout(limit, undefined, { signal: late.signal }).then(() => {
      throw new Error(`${what} did not settle within ${limit} ms.`);
    });
    tooLate.catch(() => {});
    try {
      return await Promise.race([(async () => call())(), tooLate]);
    } finally {
      late.abort();
    }
  }

  /**
   * Makes a call as the facade does: again after each failure that passes by itself. From the try `from` on, an error that `accepts`
   * allows is the effect of an earlier try.
   */
  async repeated<Answer>(
    what: string,
    call: () => Answer,
    accepts: (error: unknown) => boolean = () => false,
    from = 1,
  ): Promise<Awaited<Answer> | undefined> {
    const end = performance.now() + this.outageMs;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.settles(what, call);
      } catch (error) {
        if (tries >= from && accepts(error)) return undefined;
        assertOutage(error, what);
        if (performance.now() > end)
          throw new Error(`${what} still fails ${this.outageMs} ms after the connection was restored`, {
            cause: error,
          });
      }
      await setTimeout(20);
    }
  }

  /** The call fails as long as the connection does, or answers: it neither hangs nor fails in another way. @returns whether it failed */
  async failsOrAnswers(what: string, call: () => unknown): Promise<boolean> {
    try {
      await this.settles(what, call);
      return false;
    } catch (error) {
      assertOutage(error, what);
      return true;
    }
  }

  async begin(id = dispatchId): Promise<void> {
    await this.store.createDispatch(taskDir, sampleEnvelope(id));
  }

  append(events: readonly CapturedEvent[], id = dispatchId) {
    return this.repeated('appendEvents', () => this.store.appendEvents(taskDir, id, events));
  }

  async holds(expected: readonly CapturedEvent[], id = dispatchId): Promise<void> {
    const stored = await this.repeated('getDispatchEvents', () => this.store.getDispatchEvents(taskDir, id));
    sameContent(stored, expected, 'getDispatchEvents');
  }

  /** Fails unless the store soon has at most `most` connections. */
  async hasConnections(most: number, otherwise: string): Promise<void> {
    const end = performance.now() + this.limitMs;
    while (this.proxy.connections > most && performance.now() < end) await setTimeout(10);
    assert.ok(this.proxy.connections <= most, otherwise);
  }

  /** A second opening that the proxy does not disturb; null for a store that one process opens once. */
  async direct({ capabilities, store }: CaseContext): Promise<DispatchStoreProvider | null> {
    return capabilities.writers === 'dispatch' ? store : null;
  }
}

export function assertOutage(error: unknown, what: string): void {
  if (!storeErrors.is(error, 'STORE_UNAVAILABLE') || !error.isTransient)
    throw new Error(
      `${what} failed with ${describeError(error)}${storeErrors.is(error) ? ', which is not transient' : ''}. A lost connection is a STORE_UNAVAILABLE that is transient`,
      { cause: error },
    );
  assert.ok(
    !`${error.message}${JSON.stringify(error.details)}`.includes(secret),
    `the error of ${what} shows stored content`,
  );
}

const texts = (events: readonly CapturedEvent[]): CapturedEvent[] =>
  events.map((event) => ({ ...event, data: { text: `${secret} ${event.id}` } }));

export const batch = (name: string, size = 3) => texts(sampleEvents(size, name));
