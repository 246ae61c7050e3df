import { describeFailure } from '@hansard/dispatch';
import {
  type DispatchEnvelope,
  definedOnly,
  type EventData,
  type JsonValue,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import type { Awaitable, Clock } from '@hansard/provider';
import { type AgentRecord, isWaiting, type OpenCall } from '../agents/agent-record.ts';
import type { SessionRecord } from '../log/session-record.ts';
import { sessionErrors } from '../session-errors.ts';

type Given = EventData<'harness:approval_given'>;

/** A call that waits for a person. */
export interface PendingCall extends Omit<EventData<'harness:approval_requested'>, 'input'> {
  /** The event of the call. */
  readonly callId: string;
  readonly agentId: string;
  /** The input that the person is asked about. */
  readonly input: JsonValue;
}

/** The answer of a person to a call that waits. */
export interface PersonAnswer {
  readonly decision: 'approve' | 'refuse';
  /** Of a question: its answer. */
  readonly answer?: string | undefined;
  /** For the log; of a refusal, the agent reads it. */
  readonly note?: string | undefined;
  /** The input with which the call is made, in place of the one that was asked about. */
  readonly input?: JsonValue | undefined;
  /** `session`: it also holds for later calls of this tool with the input that was asked about. Absent: `call`. */
  readonly scope?: 'call' | 'session' | undefined;
  /** Who answers. Absent: `user`. */
  readonly by?: string | undefined;
}

/** Thrown where a call waits when the session stops: the call stays as it is, without a result. */
export class CallSuspended extends Error {
  constructor() {
    super('The call waits for a person, and the session stopped.');
  }
}

/** A call, as hooks allowed it. */
interface AskedCall {
  readonly callId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

/** What a person is asked. */
export type CallQuestion = Omit<EventData<'harness:approval_requested'>, 'toolCallId' | 'tool'>;

interface Waiter {
  readonly agentId: string;
  readonly answered: (given: Given) => void;
  readonly suspend: () => void;
}

interface WaitingOptions extends SessionRecord {
  readonly clock: Clock;
  /** Keeps in the envelope which calls wait. */
  readonly keep: (pending: readonly PendingCall[]) => Promise<unknown>;
  /** Takes the letters that are there. */
  readonly readLetters: () => Promise<void>;
  readonly onPending: ((call: PendingCall) => Awaitable<PersonAnswer | null>) | undefined;
  /** Aborts when the session stops. */
  readonly signal: AbortSignal;
}

/** Milliseconds. Timers cannot be set for longer. */
const longestTimer = 2 ** 30;

/**
 * The calls of a session that wait for people.
 *
 * 1. The envelope names a call before its request is in the log, and names it no more after the answer is: it never lacks a call that waits.
 * 2. The first answer in the log counts. The registry knows an answer when it is accepted, so a second one is refused.
 * 3. A tool is entered after `harness:call_started` is durable. A call with that event and without a result is interrupted at the next load.
 */
export class WaitingCalls {
  readonly #options: WaitingOptions;
  /** By the event of the call: what continues with the answer. */
  readonly #waiters = new Map<string, Waiter>();
  /** The calls of each agent that continue after a load. */
  readonly #resumed = new Map<string, Promise<unknown>>();
  #keepsAlive: ReturnType<typeof setInterval> | null = null;
  /** The calls that the envelope names and whose request is not recorded yet. */
  readonly #announced = new Map<string, PendingCall>();
  #isOver = false;
  /** Whether the envelope has named a call. */
  #hasNamed = false;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /** The calls without an answer, in the order of their agents. */
  get pending(): readonly PendingCall[] {
    return this.#open(({ request, given }) => request !== null && given === null);
  }

  /** Whether a call waits for an answer, or for being made after the answer. */
  get isWaiting(): boolean {
    return this.#open(isWaiting).length > 0;
  }

  /**
   * Asks a person about a call, and waits for the answer. `before`: what is recorded with the request. `via`: the last decision of a hook on the call.
   * @throws CallSuspended
   */
  async ask(
    agentId: string,
    { callId, toolCallId, tool, input }: AskedCall,
    question: CallQuestion,
    {
      before,
      via,
      signal,
    }: {
      readonly before: readonly NewEvent[];
      readonly via: string | null;
      /** Aborts when the answer or the session is stopped. */
      readonly signal: AbortSignal;
    },
  ): Promise<Given> {
    const { log, registry } = this.#options;
    const links = { agentId, cause: callId };
    const data = { toolCallId, tool, ...question };
    const request = newEvent('harness:approval_requested', data, via === null ? links : { ...links, via });
    const standing =
      question.kind === 'question' ? null : registry.standingAnswer(tool, question.input ?? input);
    if (standing !== null) {
      const { decision, by } = standing.data;
      const given: Given = { toolCallId, decision, by, scope: 'session', earlier: standing.id };
      await log.append([...before, request, newEvent('harness:approval_given', given, links)]);
      return given;
    }
    const { input: _, ...asked } = data;
    this.#announced.set(callId, { ...asked, callId, agentId, input: question.input ?? input });
    await this.#keep();
    const recorded = log.append([...before, request]);
    this.#announced.delete(callId);
    await recorded;
    return this.wait(agentId, callId, signal);
  }

  /** The answer to a call that was asked about. @throws CallSuspended if the session stops before, or the call was taken back */
  async wait(agentId: string, callId: string, signal = this.#options.signal): Promise<Given> {
    const call = this.#options.registry.get(agentId).openCalls.find((one) => one.callId === callId);
    if (call === undefined || call.request === null) throw new CallSuspended();
    if (this.#isOver || this.#options.signal.aborted) throw new CallSuspended();
    return call.given?.data ?? this.#untilAnswered(pendingCall(agentId, call, call.request.data), signal);
  }

  #untilAnswered(call: PendingCall, signal: AbortSignal): Promise<Given> {
    const { clock } = this.#options;
    const { callId, agentId, deadline } = call;
    return new Promise((resolve, reject) => {
      const end = () => {
        stopTimer();
        signal.removeEventListener('abort', suspend);
        this.#waiters.delete(callId);
        if (this.#waiters.size === 0) this.#sleep();
      };
      const suspend = () => {
        end();
        // A call whose answer was stopped is over; one whose session was stopped waits on.
        const isOver = signal.aborted && !this.#options.signal.aborted;
        reject(isOver ? signal.reason : new CallSuspended());
      };
      let stopTimer = () => {};
      const watch = () => {
        const left = deadline === undefined ? Number.POSITIVE_INFINITY : Date.parse(deadline) - clock.now();
        if (left <= 0) void this.#expire(call);
        else if (deadline !== undefined) stopTimer = clock.after(Math.min(left, longestTimer), watch);
      };
      signal.addEventListener('abort', suspend, { once: true });
      const answered = (given: Given) => {
        end();
        resolve(given);
      };
      this.#waiters.set(callId, { agentId, answered, suspend });
      // Letters have no handle of their own in the process.
      this.#keepsAlive ??= setInterval(() => {}, longestTimer);
      // The answer was stopped while the request was recorded.
      if (signal.aborted) return suspend();
      watch();
      void this.#askHere(call);
    });
  }

  /** Asks the program. Its error is an answer that it does not give. */
  async #askHere(call: PendingCall): Promise<void> {
    try {
      const answer = (await this.#options.onPending?.(call)) ?? null;
      if (answer !== null) await this.answer(call.callId, answer);
    } catch (error) {
      const { log } = this.#options;
      if (sessionErrors.is(error) || !log.isOpen) return;
      void log.append([newEvent('harness:error', describeFailure(error), { agentId: call.agentId })]);
    }
  }

  /** The deadline has passed: letters that came before it are read first. */
  async #expire({ callId, kind, ...call }: PendingCall): Promise<void> {
    await this.#options.readLetters();
    const approved = kind === 'question' ? call.default !== undefined : call.default === 'approve';
    const answer: PersonAnswer = {
      decision: approved ? 'approve' : 'refuse',
      answer: call.default,
      by: 'deadline',
    };
    await this.answer(callId, answer).catch(() => {});
  }

  /** Records an answer. `id`: of its event. @throws SESSION_ANSWER_REFUSED if no such call waits for one; SESSION_CLOSED, EVENT_INVALID */
  async answer(
    call: string,
    { decision, scope = 'call', by = 'user', ...more }: PersonAnswer,
    id?: string,
  ): Promise<void> {
    const { log } = this.#options;
    const { toolCallId, agentId, callId, kind } = this.#find(call);
    const isAnswer = kind === 'question' && decision === 'approve';
    const given: Given = {
      ...{ toolCallId, decision, by, scope },
      ...definedOnly({
        note: more.note,
        input: more.input,
        answer: isAnswer ? (more.answer ?? '') : undefined,
      }),
    };
    const links = { agentId, cause: callId, ...(id === undefined ? {} : { id }) };
    await log.append([newEvent('harness:approval_given', given, links)]);
    if (!this.#isOver) this.#waiters.get(callId)?.answered(given);
    await this.#keep();
  }

  /** Lets the calls that waited when the session was loaded continue. `named`: those that the envelope names. */
  async resume(
    named: DispatchEnvelope['pending'],
    finish: (agent: AgentRecord, call: OpenCall) => Promise<unknown>,
  ): Promise<void> {
    const ids = (calls: readonly { readonly callId: string }[] = []) =>
      JSON.stringify(calls.map(({ callId }) => callId));
    if (ids(named) !== ids(this.pending)) await this.#keep();
    this.#hasNamed ||= this.pending.length > 0;
    for (const agent of this.#options.registry.all) {
      const waiting = agent.openCalls.filter(isWaiting);
      if (waiting.length === 0) continue;
      const finished = Promise.allSettled(waiting.map((call) => finish(agent, call)));
      this.#resumed.set(agent.agentId, finished);
      void finished.then(() => this.#resumed.delete(agent.agentId));
    }
  }

  /** Resolves when the calls of an agent that waited when the session was loaded have ended. Null: there are none. */
  resumedOf(agentId: string): Promise<unknown> | null {
    return this.#resumed.get(agentId) ?? null;
  }

  /** An agent went back: the calls that its branch does not have are over. */
  async settle({ agentId, openCalls }: AgentRecord): Promise<void> {
    const current = new Set(openCalls.map(({ callId }) => callId));
    const over = [...this.#waiters].filter(
      ([callId, waiter]) => waiter.agentId === agentId && !current.has(callId),
    );
    for (const [, waiter] of over) waiter.suspend();
    if (this.#hasNamed) await this.#keep();
  }

  /** Lets no call continue any more. Answers are still recorded. */
  stop(): void {
    this.#isOver = true;
  }

  /** Resolves when no call that waited at the load continues. */
  async over(): Promise<void> {
    await Promise.all(this.#resumed.values());
  }

  #keep(): Promise<unknown> {
    this.#hasNamed = true;
    return this.#options.keep([...this.pending, ...this.#announced.values()]);
  }

  #sleep(): void {
    clearInterval(this.#keepsAlive ?? undefined);
    this.#keepsAlive = null;
  }

  #open(select: (call: OpenCall) => boolean): readonly PendingCall[] {
    return this.#options.registry.all.flatMap(({ agentId, openCalls }) =>
      openCalls.flatMap((call) =>
        call.request === null || !select(call) ? [] : [pendingCall(agentId, call, call.request.data)],
      ),
    );
  }

  /** @throws SESSION_ANSWER_REFUSED */
  #find(call: string): PendingCall {
    const found = this.pending.filter(({ callId, toolCallId }) => callId === call || toolCallId === call);
    const [first] = found;
    if (first !== undefined && found.length === 1) return first;
    throw sessionErrors.error(
      'SESSION_ANSWER_REFUSED',
      found.length === 0
        ? `No call ${call} waits for an answer: it was answered before, taken back, or nobody was asked.`
        : `Several calls with the id ${call} wait: name one by its event, ${found.map(({ callId }) => callId).join(' or ')}.`,
      { details: { callId: call } },
    );
  }
}

function pendingCall(
  agentId: string,
  { callId, input = null }: OpenCall,
  request: EventData<'harness:approval_requested'>,
): PendingCall {
  return { ...request, callId, agentId, input: request.input ?? input };
}

/** What the envelope says about a call that waits. */
export function namedInEnvelope({
  callId,
  toolCallId,
  tool,
  kind,
  agentId,
  deadline,
}: PendingCall): NonNullable<DispatchEnvelope['pending']>[number] {
  return { callId, toolCallId, tool, kind, agentId, ...(deadline === undefined ? {} : { deadline }) };
}
