import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, isEventOf, type JsonValue } from '@hansard/events';
import type { DispatchStoreProvider, ModelMessage } from '@hansard/provider';
import { openSession, type PersonAnswer } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { dispatchId, taskDir } from './prepare.ts';
import { calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

const never = new Promise<never>(() => {});

/** A process that dies at a write to the store, before it or after it: no call of it returns any more. */
function mortal(inner: DispatchStoreProvider, writes: number, isAfter: boolean) {
  let made = 0;
  let isDead = false;
  let die = () => {};
  const dead = new Promise<'dead'>((resolve) => {
    die = () => {
      isDead = true;
      resolve('dead');
    };
  });
  const provider = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isDead) return never;
        if (/^(append|update|create)/.test(String(key))) made += 1;
        if (made < writes) return member.apply(target, args);
        if (isAfter) member.apply(target, args);
        die();
        return never;
      };
    },
  });
  return { provider, dead };
}

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a person says about a call, in each process and as often as it is asked. */
const verdictOn = (seed: number, toolCallId: string): PersonAnswer => ({
  decision: (seed + toolCallId.charCodeAt(1)) % 3 === 0 ? 'refuse' : 'approve',
});

const deletes = (...ids: string[]): Reply => ({
  text: '',
  toolCalls: ids.map((toolCallId) => ({ toolCallId, tool: 'delete', input: toolCallId as JsonValue })),
});

/** The root deletes two files at once, lets Jill delete a third one, and then a fourth one. */
const script: Readonly<Record<string, readonly Reply[]>> = {
  root: [deletes('ca', 'cb'), calls('ask', {}, 'cx'), deletes('cd'), says('All is done.')],
  Jill: [deletes('cc'), says('Gone.')],
};

const answersIn = (messages: readonly ModelMessage[]) =>
  messages.filter(({ role }) => role === 'assistant').length;

/** A session that is killed at random writes until it has ended. */
class KilledSession {
  readonly store = createMemoryStore();
  /** How often the tool was entered, by call. */
  readonly entered = new Map<string, number>();
  kills = 0;
  readonly #random: (below: number) => number;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = randomOf(seed);
  }

  async play(): Promise<readonly CapturedEvent[]> {
    for (let life = 0; ; life += 1) {
      const writes = life < 12 ? 1 + this.#random(14) : Number.POSITIVE_INFINITY;
      const { provider, dead } = mortal(this.store, writes, this.#random(2) === 0);
      if ((await Promise.race([this.#live(provider), dead])) !== 'dead') break;
      this.kills += 1;
      if (this.#random(2) === 0) await this.#sendAnswers();
    }
    return openDispatchStore(this.store).getDispatchEvents(taskDir, dispatchId);
  }

  async #live(provider: DispatchStoreProvider): Promise<'ended'> {
    const delay = this.#random(2) === 0;
    const session = await openSession({
      ...{ store: openDispatchStore(provider), taskDir, dispatchId, parallelToolCalls: 2 },
      model: model(
        ({ agentName, messages }) => script[agentName ?? 'root']?.[answersIn(messages)] ?? says('Well.'),
      ),
      tools: [this.#tools()],
      onPending: async ({ toolCallId }) => {
        if (delay) await new Promise((resolve) => setImmediate(resolve));
        return verdictOn(this.#seed, toolCallId);
      },
    });
    const { root } = session;
    if ((await root.transcript()).length === 0) await root.harken('Delete everything.');
    const isWaiting = () => session.pending().some(({ agentId }) => agentId === root.agentId);
    while (root.awaitsResponse || isWaiting() || (await root.transcript()).at(-1)?.role !== 'assistant')
      await root.response();
    await session.close();
    return 'ended';
  }

  #tools() {
    const listed = tools({
      delete: ({ toolCallId }) => {
        this.entered.set(toolCallId, (this.entered.get(toolCallId) ?? 0) + 1);
        return done('deleted');
      },
      ask: async (call) => {
        const { agentId } = await hostOf(call).createAgent({ name: 'Jill' });
        await hostOf(call).deliver(agentId, { text: 'Delete c.' });
        return done(String(await hostOf(call).respond(agentId)));
      },
    });
    return {
      ...listed,
      listTools: async () =>
        (await listed.listTools()).map((tool) =>
          tool.name === 'delete' ? { ...tool, waitsFor: 'approval' as const } : tool,
        ),
    };
  }

  /** Answers by letter while no process has the session. */
  async #sendAnswers(): Promise<void> {
    const store = openDispatchStore(this.store);
    const log = await store.findDispatch({ taskDir, dispatchId });
    for (const { callId, toolCallId } of log?.envelope.pending ?? []) {
      const answer = { ...verdictOn(this.#seed, toolCallId), callId, scope: 'call' as const };
      await store.sendLetter({ taskDir, dispatchId }, { answer }).catch(() => {});
    }
  }
}

/** What is wrong in a log whose calls the test answered. */
function wrongIn(
  events: readonly CapturedEvent[],
  entered: ReadonlyMap<string, number>,
  seed: number,
): string[] {
  const positionsOf = (type: CapturedEvent['type'], toolCallId: string) =>
    events.flatMap((event, position) =>
      event.type === type && event.data.toolCallId === toolCallId ? [position] : [],
    );
  return events.flatMap((event) => {
    if (!isEventOf(event, 'agent:tool_call') || event.data.tool !== 'delete') return [];
    const { toolCallId } = event.data;
    const count = entered.get(toolCallId) ?? 0;
    const [given = Number.POSITIVE_INFINITY] = positionsOf('harness:approval_given', toolCallId);
    const [started = -1, again] = positionsOf('harness:call_started', toolCallId);
    const isApproved = verdictOn(seed, toolCallId).decision === 'approve';
    return [
      ...(count > 1 ? [`${toolCallId} was entered ${count} times`] : []),
      ...(count === 1 && (!isApproved || started < given)
        ? [`${toolCallId} was entered without approval`]
        : []),
      ...(again === undefined ? [] : [`${toolCallId} was started twice`]),
      ...(positionsOf('agent:tool_result', toolCallId).length === 1
        ? []
        : [`${toolCallId} has not one result`]),
    ];
  });
}

const seeds = Number(process.env.HANSARD_SEEDS ?? 30);

it(`a call that waits is made at most once and never without approval, wherever its processes are killed (${seeds} seeds)`, {
  timeout: 60_000 + seeds * 1_000,
}, async () => {
  let kills = 0;
  let made = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const session = new KilledSession(seed);
    const events = await session.play();
    expect(wrongIn(events, session.entered, seed), `seed ${seed}`).toEqual([]);
    kills += session.kills;
    made += session.entered.size;
  }
  expect(kills).toBeGreaterThan(3.5 * seeds);
  expect(made).toBeGreaterThan(seeds);
});
