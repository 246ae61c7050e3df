import { type CapturedEvent, isEventOf, type NewEvent, newEvent } from '@hansard/events';
import { freezeDeep } from '@hansard/events/plain';
import type { HookObservation, HookProvider } from '@hansard/provider';
import { isPromise } from '../async/is-promise.ts';
import { describeFailure } from '../describe-failure.ts';
import { type AnswerTime, answerInTime } from '../tools/answer-in-time.ts';
import type { HookPart } from './hook-part.ts';

const none: readonly Observed[] = [];

export interface HookObserversOptions {
  readonly hooks: readonly HookProvider[];
  readonly dispatchId: string;
  /** The signal drops what was not observed. */
  readonly time: AnswerTime;
  /** The part of a hook in an observation; null: it does not observe. */
  readonly part: (hook: HookProvider, event: CapturedEvent) => HookPart | null;
  /** Records the failure of a hook. */
  readonly record: (event: NewEvent) => Promise<unknown>;
}

/** Passes recorded events to hooks, one event after the other. It does not delay the recording. */
export class HookObservers {
  readonly #options: HookObserversOptions;
  readonly #hooks: readonly HookProvider[];
  readonly #finder = new ObservationFinder();
  /** What was not passed yet, and the functions that wait for what is before them. */
  readonly #steps: (Observed | (() => void))[] = [];
  /** Whether steps are passed, or will be in the next microtask. */
  #isPassing = false;

  constructor(options: HookObserversOptions) {
    this.#options = options;
    this.#hooks = options.hooks.filter(({ observe }) => observe !== undefined);
  }

  /** Adds recorded events, in the order of the log. They are frozen. */
  add(events: readonly CapturedEvent[]): void {
    if (this.#hooks.length === 0) return;
    for (const event of events) this.#queue(this.#finder.observe(event));
  }

  /** No event follows. */
  finish(): void {
    this.#queue(this.#finder.finish());
  }

  /** Resolves when the hooks have observed everything, also what is added until then. Null: they have. */
  settled(): Promise<void> | null {
    return this.#isPassing ? this.#untilSettled() : null;
  }

  /** Resolves when the hooks have observed what was added before this call, or the signal aborts. */
  drained(): Promise<void> {
    if (!this.#isPassing) return Promise.resolve();
    return new Promise((resolve) => this.#steps.push(resolve));
  }

  async #untilSettled(): Promise<void> {
    while (this.#isPassing) await this.drained();
  }

  #queue(observations: readonly Observed[]): void {
    if (observations.length === 0) return;
    for (const observed of observations) {
      freezeDeep(observed.event);
      this.#steps.push(observed);
    }
    if (this.#isPassing) return;
    this.#isPassing = true;
    // Later: a hook that acts must not do so within the recording of what it observes.
    queueMicrotask(() => this.#pass());
  }

  /** Passes all steps, at once if no hook takes time. */
  #pass(): void {
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) {
      if (typeof step === 'function') step();
      else if (!this.#options.time.signal.aborted) {
        const late = this.#passTo(step, 0);
        if (late === null) continue;
        void late.then(() => this.#pass());
        return;
      }
    }
    this.#isPassing = false;
  }

  /** Null: all hooks from this one on have answered at once. Never rejects. */
  #passTo(observed: Observed, from: number): Promise<void> | null {
    for (let index = from; index < this.#hooks.length; index += 1) {
      const hook = this.#hooks[index];
      const late = hook === undefined ? null : this.#show(hook, observed);
      if (late !== null) return late.then(() => this.#passTo(observed, index + 1) ?? undefined);
    }
    return null;
  }

  /** Null: the hook has answered at once. Never rejects. */
  #show(hook: HookProvider, { what, event }: Observed): Promise<void> | null {
    const { dispatchId, time, part: partOf } = this.#options;
    const part = partOf(hook, event);
    if (part === null) return null;
    const observation: HookObservation = { what, dispatchId, event };
    try {
      const answer = hook.observe?.(observation, part.host);
      if (!isPromise(answer)) {
        part.end();
        return null;
      }
      return answerInTime(time, hook, 'it observed for longer than', () => answer)
        .catch((error) => this.#failed(hook, observation, error))
        .finally(() => part.end());
    } catch (error) {
      part.end();
      return this.#failed(hook, observation, error);
    }
  }

  async #failed({ name }: HookProvider, { what, event }: HookObservation, error: unknown): Promise<void> {
    const { time, record } = this.#options;
    if (time.signal.aborted) return;
    const failure = describeFailure(error);
    const message = `The hook ${name} could not observe a ${what}: ${failure.message}`;
    const { id: cause, agentId } = event;
    const links = { cause, ...(agentId === undefined ? {} : { agentId }) };
    // If it cannot be recorded, the dispatch has ended or its store has failed, which its owner reports.
    await record(newEvent('harness:error', { ...failure, message, hook: `${name}` }, links)).catch(() => {});
  }
}

type Observed = Pick<HookObservation, 'what' | 'event'>;

/** The latest message of an agent. */
interface LatestMessage {
  readonly messageId: string;
  /** Its texts, until it is known that they are an utterance; null: it has a tool call. */
  texts: CapturedEvent[] | null;
}

/**
 * Finds what hooks observe, in the order of the log. A text is an utterance when its message is over without a tool call, so it comes
 * with the event after its message.
 */
class ObservationFinder {
  readonly #latest = new Map<string, LatestMessage>();

  /** What is known with this event, the utterance before it included. */
  observe(event: CapturedEvent): readonly Observed[] {
    const what = kindOf(event);
    const utterance = this.#follow(event);
    return what === null ? utterance : [...utterance, { what, event }];
  }

  /** The utterances with which the log ends. */
  finish(): readonly Observed[] {
    return [...this.#latest.keys()].flatMap((agentId) => this.#release(agentId));
  }

  #follow(event: CapturedEvent): readonly Observed[] {
    const { type, id, agentId = '', messageId = id } = event;
    if (type === 'session:complete') return this.finish();
    switch (type) {
      case 'agent:text':
      case 'agent:thinking':
      case 'agent:tool_call': {
        const isNew = this.#latest.get(agentId)?.messageId !== messageId;
        const before = isNew ? this.#release(agentId) : none;
        if (isNew) this.#latest.set(agentId, { messageId, texts: [] });
        const latest = this.#latest.get(agentId);
        if (type === 'agent:tool_call' && latest !== undefined) latest.texts = null;
        else if (type === 'agent:text') latest?.texts?.push(event);
        return before;
      }
      case 'agent:inference':
      case 'agent:tool_result':
      case 'agent:terminated':
        return this.#release(agentId);
      default:
        return none;
    }
  }

  #release(agentId: string): readonly Observed[] {
    const latest = this.#latest.get(agentId);
    if (latest?.texts == null || latest.texts.length === 0) return none;
    const { texts } = latest;
    latest.texts = [];
    return texts.map((event) => ({ what: 'utterance', event }));
  }
}

function kindOf(event: CapturedEvent): HookObservation['what'] | null {
  const { type } = event;
  if (isEventOf(event, 'user:message')) return event.data.source.kind === 'agent' ? 'delivery' : 'message';
  switch (type) {
    case 'agent:tool_call':
      return 'call';
    case 'agent:tool_result':
      return 'result';
    case 'agent:terminated':
    case 'session:complete':
      return 'end';
    case 'harness:error':
      return event.data.hook === undefined ? 'notification' : null;
    default:
      return /^(?:harness|system|session):/.test(type) ? 'notification' : null;
  }
}
