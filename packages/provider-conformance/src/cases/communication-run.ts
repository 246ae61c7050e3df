import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CapturedEvent, type DispatchEnvelope, envelopeSchemaVersion } from '@hansard/events';
import type { Awaitable, CommunicationHost, CommunicationProvider, IncomingTask } from '@hansard/provider';
import type { CommonFixture } from '../conformance-case.ts';
import { returns, settles } from '../expectations.ts';

/**
 * `shows`: the fixture can read what people were shown. `delivers`, `aborts`, `startsTasks`: it can do what a person does who writes to the
 * agents, stops a dispatch, or begins a task.
 */
export type CommunicationScenario = 'shows' | 'delivers' | 'aborts' | 'startsTasks';

export interface CommunicationFixture extends CommonFixture {
  readonly provider: CommunicationProvider;
  /** The `store` of the host. Absent: the host gives none. */
  readonly store?: object;
  /** Puts a dispatch of the kit into that store, before its notices. */
  readonly record?: (
    taskDir: string,
    envelope: DispatchEnvelope,
    events: readonly CapturedEvent[],
  ) => Awaitable<void>;
  /** All that people were shown so far. */
  readonly shown?: () => Awaitable<string>;
  /** Writes to the dispatch that started last. Whether the host took it does not matter. */
  readonly write?: (text: string) => Awaitable<unknown>;
  /** Stops the dispatch that started last. */
  readonly stop?: () => Awaitable<unknown>;
  /** Begins a task. */
  readonly begin?: (prompt: string) => Awaitable<unknown>;
}

export const kitTask = 'conformance/tasks/kit';
const at = '2026-03-01T09:30:00.000Z';

/** A dispatch of the kit, with the notices that a provider gets of it. */
export class KitDispatch {
  readonly running: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];

  constructor(
    dispatchId: string,
    texts: readonly string[] = ['First words.', 'Second words.', 'Third words.'],
  ) {
    this.events = texts.map((text, index) => ({
      id: `${dispatchId}-${index}`,
      type: 'agent:text',
      timestamp: at,
      data: { text },
    }));
    const none = {
      title: null,
      cwd: null,
      completedAt: null,
      ended: null,
      cost: null,
      usage: null,
      models: null,
    };
    const unknown = { periods: null, prices: null, openCalls: null, folded: null, structuredResult: null };
    this.running = {
      ...{
        dispatchId,
        taskSlug: 'kit',
        role: 'worker',
        model: 'model-1',
        startedAt: at,
        ...none,
        ...unknown,
      },
      ...{ status: 'running', source: null, parentDispatchId: null, botId: null, fidelity: 'full' },
      schemaVersion: envelopeSchemaVersion,
    };
  }

  get ended(): DispatchEnvelope {
    return { ...this.running, status: 'completed', completedAt: at };
  }
}

/** What a person did, as the host received it. `answer` says what the host does with each message and task. */
export class KitHost implements CommunicationHost {
  readonly delivered: { readonly text: string; readonly dispatchId: string | undefined }[] = [];
  readonly aborted: string[] = [];
  readonly begun: IncomingTask[] = [];
  readonly store?: object;
  answer: () => Awaitable<boolean> = () => true;

  constructor({ store }: Pick<CommunicationFixture, 'store'> = {}) {
    if (store !== undefined) this.store = store;
  }

  readonly accepts = () => ({ messages: true, abort: true });

  readonly deliver: CommunicationHost['deliver'] = async ({ text, dispatchId }) => {
    this.delivered.push({ text: String(text), dispatchId });
    return this.answer();
  };

  readonly abort: CommunicationHost['abort'] = (dispatchId) => {
    this.aborted.push(dispatchId);
    return true;
  };

  readonly start: CommunicationHost['start'] = async (task) => {
    this.begun.push(task);
    await this.answer();
    return { taskDir: kitTask, dispatchId: 'begun' };
  };
}

/** Sends a provider the calls of the hub, one after the other. */
export class KitHub {
  readonly host: KitHost;
  readonly #fixture: CommunicationFixture;
  readonly #patienceMs: number;

  constructor(fixture: CommunicationFixture, patienceMs: number) {
    this.host = new KitHost(fixture);
    this.#fixture = fixture;
    this.#patienceMs = patienceMs;
  }

  static async started(fixture: CommunicationFixture, patienceMs: number): Promise<KitHub> {
    const hub = new KitHub(fixture, patienceMs);
    await hub.call('start', () => hub.provider.start?.(hub.host));
    return hub;
  }

  get provider(): CommunicationProvider {
    return this.#fixture.provider;
  }

  async began(dispatch: KitDispatch): Promise<void> {
    const { running, events } = dispatch;
    await this.#fixture.record?.(kitTask, structuredClone(running), structuredClone(events));
    const notice = structuredClone({ taskDir: kitTask, envelope: running });
    await this.call('dispatchStarted', () => this.provider.dispatchStarted?.(notice));
  }

  event(dispatch: KitDispatch, position: number): Promise<void> {
    const event = dispatch.events[position];
    if (event === undefined) assert.fail(`the kit has no event ${position}`);
    const notice = structuredClone({ taskDir: kitTask, envelope: dispatch.running, event, position });
    return this.call('eventRecorded', () => this.provider.eventRecorded(notice));
  }

  delta(dispatch: KitDispatch, text: string): Promise<void> {
    const delta = { type: 'delta:text', text } as const;
    const notice = { taskDir: kitTask, envelope: structuredClone(dispatch.running), delta };
    return this.call('deltaReceived', () => this.provider.deltaReceived?.(notice));
  }

  ended(dispatch: KitDispatch): Promise<void> {
    const notice = structuredClone({ taskDir: kitTask, envelope: dispatch.ended });
    return this.call('dispatchEnded', () => this.provider.dispatchEnded?.(notice));
  }

  /** Every notice of a dispatch. */
  async play(dispatch: KitDispatch): Promise<void> {
    await this.began(dispatch);
    for (const position of dispatch.events.keys()) {
      await this.delta(dispatch, 'Wor');
      await this.event(dispatch, position);
    }
    await this.ended(dispatch);
  }

  call(name: string, call: () => Awaitable<void>): Promise<void> {
    return returns(name, this.#patienceMs, call);
  }

  close(): Promise<void> {
    return this.call('close', () => this.provider.close?.());
  }

  /** Does what a person does. A refusal of the host may reach the person as an error. */
  async person(does: () => Awaitable<unknown>): Promise<void> {
    await settles('what the person does', this.#patienceMs, does);
  }

  /** Waits for something that the host notices. Fails with `what` if it does not happen in time. */
  async until(what: string, hasHappened: () => boolean): Promise<void> {
    for (const end = performance.now() + this.#patienceMs; !hasHappened(); await sleep(2))
      if (performance.now() > end) assert.fail(`${what} within ${this.#patienceMs} ms`);
  }
}

/** @throws if the fixture lacks what its scenario needs */
export function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new TypeError(`A fixture for this scenario needs \`${name}\`.`);
  return value;
}
