import {
  type Dispatch,
  familyOf,
  LetterInbox,
  type MessageSource,
  type Toolbox,
  Watch,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  type DispatchLetter,
  type HansardError,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import type { DispatchHost } from '@hansard/provider';
import { inWords } from '../agents/agent-record.ts';
import type { SessionRecord } from '../log/session-record.ts';
import { sessionErrors } from '../session-errors.ts';
import type { SessionRunOptions } from '../session-options.ts';
import { isRecordedBy } from './recorded-failure.ts';
import type { SessionInputs } from './session-inputs.ts';
import type { WaitingCalls } from './waiting-calls.ts';

interface SessionWatchParts {
  readonly options: SessionRunOptions;
  readonly dispatch: Dispatch;
  readonly toolbox: Toolbox;
  readonly record: SessionRecord;
  /** Aborts when the agents of the session are stopped. */
  readonly signal: AbortSignal;
  /** Stops the agents. */
  readonly onStop: (reason: HansardError) => void;
}

/** The watch of a session: it stops turns of agents, or the session. */
export class SessionWatch {
  readonly #parts: SessionWatchParts;
  readonly #watch: Watch;
  readonly #letters: LetterInbox;
  /** The turns of agents that answer. */
  readonly #turns = new Map<string, WatchedTurn>();
  /** The events of the calls whose tools run. */
  readonly #calls = new Map<string, string>();
  #isStopped = false;
  #detach = () => {};
  /** Set once, when the session has its parts. */
  waiting: WaitingCalls | null = null;
  /** As `waiting`. */
  inputs: SessionInputs | null = null;

  constructor(parts: SessionWatchParts) {
    const { options, toolbox, dispatch, record } = parts;
    this.#parts = parts;
    const append = async (event: NewEvent): Promise<boolean> => {
      if (!record.log.isOpen) return false;
      await record.log.append([event]);
      return true;
    };
    this.#letters = new LetterInbox({
      store: options.store,
      dispatch,
      take: (letter) => this.#takeLetter(letter),
      report: append,
    });
    this.#watch = new Watch(options, { depth: 0, family: familyOf(toolbox) }, dispatch, {
      kill: (event) => this.#kill(event),
      warn: async (event) => {
        await append(event);
      },
      // The session then stops with the error of that write.
      report: (event) => append(event).catch(() => true),
      record: async (event) => {
        const [recorded] = await record.log.append([event]);
        return recorded as CapturedEvent;
      },
      callEvent: async (toolCallId, agentId = '') => this.#calls.get(callKey(agentId, toolCallId)),
    });
  }

  /** The tool of a call runs, until the returned function is called. */
  running(agentId: string, toolCallId: string, callId: string): () => void {
    const key = callKey(agentId, toolCallId);
    this.#calls.set(key, callId);
    return () => this.#calls.delete(key);
  }

  /** Looks for letters once more. A message is then in the transcript that the session continues with. */
  lastLetters(): Promise<void> {
    return this.#letters.end();
  }

  /** Takes the letters that are there. */
  readLetters(): Promise<void> {
    return this.#letters.start();
  }

  /** Null: agents of the session can have no workers. */
  get workers(): DispatchHost | null {
    return this.#watch.workers;
  }

  get messages(): AsyncIterable<CapturedEvent> {
    return this.#watch.messages;
  }

  /** Whether a limit or an abort stopped the session. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Begins when the session has its agents. `isLoaded`: it may have workers of before. */
  async start(isLoaded: boolean): Promise<void> {
    if (isLoaded) await this.#watch.workers?.restore();
    this.#watch.start();
    this.#detach = this.#watch.attach({
      abort: (reason) => this.abort(reason, 'user'),
      isOpen: () => this.#isOpen,
      ...(this.#parts.record.registry.root === null
        ? {}
        : {
            deliver: (text: string, source: MessageSource, cause?: string) =>
              this.#deliver(text, source, cause),
          }),
    });
    await this.#letters.start();
  }

  abort(reason?: string, by?: string): void {
    this.#stop(
      newEvent('harness:abort', {
        ...(reason === undefined ? {} : { reason }),
        ...(by === undefined ? {} : { by }),
      }),
    );
  }

  /** Takes no more messages and starts no more workers. */
  end(): void {
    this.#letters.stop();
    this.#detach();
    this.#watch.close();
    this.#watch.stop();
  }

  /** The store failed. */
  fail(): void {
    this.end();
    this.stopWorkers('the store failed for the session that started it');
  }

  /** The session is stopped: so are its workers. */
  stopWorkers(reason: string): void {
    this.#watch.close();
    this.#watch.workers?.abort(reason, this.#parts.dispatch.dispatchId);
  }

  /** Resolves when all workers have ended. @throws a failure of the store that could not be recorded */
  async workersOver(): Promise<void> {
    await this.#watch.workers?.over();
  }

  /** Stops the session if it has spent too much. Called before an agent continues. */
  checkCost(): void {
    this.#watch.checkCost();
  }

  /** Says once that the limit of cost does not count a model. Called after a model has answered. */
  async warnOfCost(): Promise<void> {
    const { record, options } = this.#parts;
    if (options.limits?.costUsd === undefined) return;
    const warning = this.#watch.costWarning(this.#watch.uncountedModels);
    if (warning !== null && record.log.isOpen) await record.log.append([warning]);
  }

  /** The turn of an agent that begins to answer. */
  begin(agentId: string): WatchedTurn {
    this.#watch.forgetCalls(agentId);
    const turn: WatchedTurn = new WatchedTurn(this.#watch, this.#parts.record, agentId, () => {
      if (this.#turns.get(agentId) === turn) this.#turns.delete(agentId);
    });
    this.#turns.set(agentId, turn);
    return turn;
  }

  /** The turn of an agent that answers. Null: it does not. */
  turnOf(agentId: string): WatchedTurn | null {
    return this.#turns.get(agentId) ?? null;
  }

  #kill(event: NewEvent): void {
    const turn = event.type === 'harness:loop_kill' ? this.#turns.get(event.agentId ?? '') : undefined;
    if (turn === undefined) this.#stop(event);
    else turn.stop(event);
  }

  #stop(event: NewEvent): void {
    const { dispatch, record, onStop } = this.#parts;
    if (this.#isStopped || !record.log.isOpen) return;
    this.#isStopped = true;
    void record.log.append([event]);
    const why = reasonOf(event);
    const { dispatchId } = dispatch;
    this.stopWorkers(`the session that started it was stopped (${why})`);
    onStop(
      sessionErrors.error('SESSION_STOPPED', `The session ${dispatchId} was stopped (${why}).`, {
        details: { dispatchId, event: event.type },
      }),
    );
  }

  /** Repeats a letter of another process. False: it stays. */
  async #takeLetter({ from, text = '', source, agentId, abort, answer }: DispatchLetter): Promise<boolean> {
    const { record, signal } = this.#parts;
    const { log, registry } = record;
    if (!log.isOpen || signal.aborted || this.#isStopped) return false;
    if (answer !== undefined) {
      try {
        await this.waiting?.answer(answer.callId, { ...answer, by: source.name ?? source.kind }, from);
        return true;
      } catch (error) {
        if (sessionErrors.is(error, 'SESSION_ANSWER_REFUSED')) return false;
        throw error;
      }
    }
    if (abort === true) {
      const data = { ...(text === '' ? {} : { reason: text }), by: source.kind };
      this.#stop(newEvent('harness:abort', data, { id: from }));
      return true;
    }
    const to = agentId ?? registry.root?.agentId;
    if (to === undefined || !registry.has(to) || registry.get(to).isTerminated) return false;
    const message = { role: 'user', content: text, source } as const;
    try {
      const recorded = await this.inputs?.receive(to, message, { id: from }).recorded;
      const event = recorded?.find(({ id }) => id === from);
      if (event !== undefined && to === registry.root?.agentId) this.#watch.received(event);
    } catch (error) {
      if (!sessionErrors.is(error, 'SESSION_INPUT_DENIED')) throw error;
    }
    return true;
  }

  get #isOpen(): boolean {
    const { record, signal } = this.#parts;
    return record.log.isOpen && !signal.aborted;
  }

  async #deliver(text: string, source: MessageSource, cause?: string): Promise<boolean> {
    const { record, options } = this.#parts;
    const { root } = record.registry;
    if (root === null || !this.#isOpen) return false;
    const { kind, what } = source;
    if (kind === 'user' || kind === 'external') {
      const incoming = { kind, ...(what === undefined ? {} : { what }) };
      if (options.onIncoming?.(text, incoming) === true) return true;
    }
    const message = { role: 'user', content: text, source } as const;
    const links = cause === undefined ? {} : { cause };
    const { messageId, recorded } = this.inputs?.receive(root.agentId, message, { links }) ?? {};
    const event = (await recorded)?.find(({ id }) => id === messageId);
    if (event !== undefined) this.#watch.received(event);
    return true;
  }
}

/** An agent id contains no space. */
function callKey(agentId: string, toolCallId: string): string {
  return `${agentId} ${toolCallId}`;
}

/** One turn of an agent: from the question to its utterance. */
export class WatchedTurn {
  readonly #watch: Watch;
  readonly #record: SessionRecord;
  readonly #agentId: string;
  readonly #onEnd: () => void;
  readonly #silence: ReturnType<Watch['watchSilence']>;
  readonly #stopping = new AbortController();
  /** What the model has said so far. Null: no model is called. */
  said: {
    readonly messageId: string;
    readonly through: string | null;
    /** Whether nobody may receive it before hooks have decided. */
    readonly isHeld: boolean;
    text: string;
  } | null = null;
  /** Whether the calls that have not begun are left out, because the agent received something that comes first. */
  isInterrupted = false;
  #stopped: HansardError | null = null;
  /** How many models and tools it waits for that do not wait for others. */
  #awaited = 0;

  constructor(watch: Watch, record: SessionRecord, agentId: string, onEnd: () => void) {
    this.#watch = watch;
    this.#record = record;
    this.#agentId = agentId;
    this.#onEnd = onEnd;
    this.#silence = watch.watchSilence(
      () => this.#awaited <= 0,
      (event) => this.stop(event),
    );
  }

  /** `signal`, which also aborts when the turn is stopped. */
  signalWith(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#stopping.signal]);
  }

  /** The error of the turn. Null: it continues. */
  get stopped(): HansardError | null {
    return this.#stopped;
  }

  /** Something happened. */
  touch(): void {
    this.#silence?.touch();
  }

  /** The turn waits for a model or a tool. */
  async awaiting<T>(task: () => Promise<T>): Promise<T> {
    return this.#counting(1, task);
  }

  /** A tool of the turn waits for another agent, whose turn has its own watch. */
  async resting<T>(task: () => Promise<T>): Promise<T> {
    return this.#counting(-1, task);
  }

  async #counting<T>(count: number, task: () => Promise<T>): Promise<T> {
    this.#awaited += count;
    this.touch();
    try {
      return await task();
    } finally {
      this.#awaited -= count;
      this.touch();
    }
  }

  /** Observes calls or results of the agent that were recorded, with their content. */
  async observe(events: readonly CapturedEvent[]): Promise<void> {
    for (const event of events) if (this.#stopped === null) await this.#watch.observe(event);
  }

  /** Stops the turn for the reason in the event. */
  stop(event: NewEvent, before: readonly NewEvent[] = []): void {
    const { log, registry } = this.#record;
    if (this.#stopped !== null || !log.isOpen) return;
    const agentId = this.#agentId;
    const id = log.createId();
    this.#stopped = sessionErrors.error(
      'SESSION_AGENT_STOPPED',
      `The turn of ${inWords(registry.get(agentId))} was stopped (${reasonOf(event)}).`,
      { details: { agentId, event: event.type } },
    );
    isRecordedBy(this.#stopped, id);
    void log.append([...before, { ...event, id, agentId }]);
    this.#stopping.abort(this.#stopped);
  }

  /** Stops the answer for a person or a program: what was said so far is recorded. */
  stopAnswer(by: string, reason: string | undefined): void {
    const { said } = this;
    const isSaid = said !== null && said.text !== '';
    const data = {
      by,
      ...(reason === undefined ? {} : { reason }),
      ...(isSaid ? { messageId: said.messageId } : {}),
      ...(said === null ? {} : { through: said.through }),
    };
    const message = { role: 'assistant', content: said?.text ?? '' } as const;
    const { messageId = '', isHeld = false } = said ?? {};
    const unchecked = {
      text: said?.text ?? '',
      reason: 'it was stopped before it was checked',
      retry: false,
    };
    const agentId = this.#agentId;
    const before = isHeld
      ? [newEvent('agent:rejected', unchecked, { agentId, messageId })]
      : takeApart(message, { id: messageId, agentId });
    this.stop(newEvent('harness:answer_stopped', data), isSaid ? before : []);
  }

  end(): void {
    this.#silence?.stop();
    this.#onEnd();
  }
}

function reasonOf({ type, data }: NewEvent): string {
  switch (type) {
    case 'harness:loop_kill':
      return `loop: ${data.tool} was repeated ${data.count} times`;
    case 'harness:stall':
      return `silent for ${data.idleMs} ms`;
    case 'harness:timeout':
      return `time limit: ${data.limitMs} ms`;
    default:
      return typeof data.reason === 'string' ? data.reason : type;
  }
}
