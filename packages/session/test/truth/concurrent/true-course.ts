import { type CapturedEvent, isEventOf } from '@hansard/events';
import { takenBackText } from '@hansard/prompt';
import type { Called } from './played.ts';

/** Where an agent stands: what its model would be given, as this test reads it from the log. */
interface Standing {
  /** What every later prompt begins with. */
  readonly lines: readonly string[];
  /** The calls of the last answer with the lines of their results. Null: there is none yet. */
  readonly calls: readonly { readonly toolCallId: string; readonly line: string | null }[];
  /** The messages that no answered call was given, with their numbers. */
  readonly queue: readonly { readonly line: string; readonly number: number }[];
  /** In the order of the log. */
  readonly transcript: readonly string[];
  /** How many messages came during an answer that was stopped, and have no answer. */
  readonly open: number;
  /** Whether the last answer was rejected, and another one is wanted. */
  readonly isToRetry: boolean;
}

/** A standing after an event, and how many messages had been recorded by then. */
export interface Stood extends Standing {
  readonly position: number;
  readonly messages: number;
}

/** A call, and the messages that the agent had when it was made. */
export interface FoundCall {
  readonly call: Called;
  readonly messages: readonly string[];
}

/** The course of one agent through the log, with branches, rejected and stopped answers. Shares nothing with what renders prompts. */
export class TrueCourse {
  readonly #events: readonly CapturedEvent[];
  readonly #called: readonly Called[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #stood = new Map<string, Standing>();
  readonly history: Stood[] = [];
  /** The texts of all messages. */
  readonly messages: string[] = [];
  readonly found: FoundCall[] = [];
  readonly wrong: string[] = [];
  #now: Standing = { lines: [], calls: [], queue: [], open: 0, transcript: [], isToRetry: false };
  #next = 0;
  /** How many messages every later call has. */
  #seen = 0;
  readonly #hasRewind: boolean;
  #answers = new Set<string>();

  constructor(events: readonly CapturedEvent[], called: readonly Called[], agentId: string) {
    this.#events = events;
    this.#called = called.filter((call) => call.agentId === agentId);
    const own = events.filter((event) => event.agentId === agentId);
    this.#numbers = numbersOf(own);
    this.#hasRewind = own.some(({ type }) => type === 'session:rewind');
    for (const [position, event] of events.entries())
      if (event.agentId === agentId) {
        this.#observe(event);
        this.#stood.set(event.id, this.#now);
        this.history.push({ ...this.#now, position, messages: this.messages.length });
      }
    this.#findUnanswered();
    for (const call of this.#called.slice(this.#next))
      this.wrong.push(`the prompt of call ${call.number} of ${agentId}: ${call.prompt.join(' | ')}`);
  }

  get last(): Standing {
    return this.#now;
  }

  #observe(event: CapturedEvent): void {
    if (isEventOf(event, 'agent:system_prompt')) this.#add(`system: ${event.data.text}`);
    else if (isEventOf(event, 'user:message')) {
      const line = `user: ${event.data.text}${digestsOf(event)}`;
      const number = this.messages.push(event.data.text) - 1;
      const { queue, transcript } = this.#now;
      this.#set({
        queue: [...queue, { line, number }],
        transcript: [...transcript, `user: ${event.data.text}`],
      });
    } else if (isEventOf(event, 'agent:tool_result'))
      this.#result(event.data.toolCallId, String(event.data.output));
    else if (isEventOf(event, 'session:rewind')) this.#rewind(event.data.keptThrough);
    else if (isBlock(event) && !this.#answers.has(event.messageId ?? event.id)) this.#answer(event);
  }

  /** The first block of an answer: the others are in the same append. */
  #answer(event: CapturedEvent): void {
    const { messageId = event.id } = event;
    this.#answers.add(messageId);
    const number = this.#numbers.get(messageId);
    this.#findUnanswered(number);
    const call = this.#called[this.#next];
    if (call === undefined || call.number !== number) {
      this.wrong.push(`${messageId} is an answer to call ${number}, which is not the next call`);
      return;
    }
    this.#next += 1;
    const given = this.#given(call);
    if (given === null) this.wrong.push(`call ${number} had ${call.prompt.join(' | ')}, not ${this.#words}`);
    const blocks = this.#events.filter((one) => one.messageId === messageId || one.id === messageId);
    const said = linesOf(blocks);
    this.found.push({ call, messages: this.messages.slice(0, this.#seen) });
    // A message during an answer that was stopped, and has no record of its call, is before what was said.
    const { queue } = this.#now;
    const isRecorded = blocks.some(({ type }) => type === 'agent:inference');
    const late = isRecorded ? [] : queue.slice(given ?? 0);
    this.#seen = Math.max(this.#seen, (late.at(-1)?.number ?? -1) + 1);
    this.#set({
      lines: [...call.prompt, ...late.map(({ line }) => line), ...said],
      open: isRecorded ? 0 : late.length,
      calls: blocks.flatMap((one) =>
        isEventOf(one, 'agent:tool_call') ? [{ toolCallId: one.data.toolCallId, line: null }] : [],
      ),
      queue: isRecorded ? queue.slice(given ?? 0) : [],
      transcript: [...this.#now.transcript, ...said],
      isToRetry: blocks.some((one) => isEventOf(one, 'agent:rejected') && one.data.retry),
    });
  }

  #result(toolCallId: string, output: string): void {
    const { calls, transcript } = this.#now;
    if (!calls.some((call) => call.toolCallId === toolCallId && call.line === null)) return;
    this.#findUnanswered();
    const line = `tool: ${output}`;
    this.#set({
      calls: calls.map((call) => (call.toolCallId === toolCallId ? { toolCallId, line } : call)),
      transcript: [...transcript, line],
    });
  }

  #rewind(keptThrough: string | null): void {
    this.#findUnanswered();
    const kept = this.#stood.get(keptThrough ?? '');
    if (kept === undefined) {
      this.wrong.push(`a rewind to ${keptThrough}, which the agent does not have`);
      return;
    }
    this.#now = kept;
    this.#seen = this.messages.length;
  }

  /** The calls that have no answer in the log were made where their prompt is the agent's. */
  #findUnanswered(before = Number.POSITIVE_INFINITY): void {
    const answered = new Set(this.#numbers.values());
    for (;;) {
      const call = this.#called[this.#next];
      if (call === undefined || call.number >= before || answered.has(call.number)) return;
      if (this.#given(call) === null) return;
      this.#next += 1;
      // With rewinds, an agent can stand there twice.
      if (!this.#hasRewind) this.found.push({ call, messages: this.messages.slice(0, this.#seen) });
    }
  }

  /** How many messages of the queue a call was given. Null: its prompt is another one. */
  #given(call: Called): number | null {
    const { queue } = this.#now;
    const base = promptAt({ ...this.#now, queue: [] });
    const count = call.prompt.length - base.length;
    const given = queue.slice(0, Math.max(0, count));
    const expected = [...base, ...given.map(({ line }) => line)];
    if (expected.join('\n') !== call.prompt.join('\n')) return null;
    this.#seen = Math.max(this.#seen, (given.at(-1)?.number ?? -1) + 1);
    return given.length;
  }

  get #words(): string {
    const { lines, calls, queue } = this.#now;
    return [...lines, ...calls.map(({ line }) => line), ...queue.map(({ line }) => `(${line})`)].join(' | ');
  }

  #add(line: string): void {
    const { lines, transcript } = this.#now;
    this.#set({ lines: [...lines, line], transcript: [...transcript, line] });
  }

  #set(more: Partial<Standing>): void {
    this.#now = { ...this.#now, ...more };
  }
}

/** What an agent that stands there is given. */
export function promptAt({ lines, calls, queue }: Standing): readonly string[] {
  const results = calls.map(({ line }) => line ?? `tool: ${takenBackText}`);
  return [...lines, ...results, ...queue.map(({ line }) => line)];
}

function isBlock({ type }: CapturedEvent): boolean {
  return type === 'agent:text' || type === 'agent:rejected' || type === 'agent:tool_call';
}

/** The number of the call of each message. */
function numbersOf(own: readonly CapturedEvent[]): ReadonlyMap<string, number> {
  return new Map(
    own.flatMap((event) => {
      const text =
        isEventOf(event, 'agent:text') || isEventOf(event, 'agent:rejected') ? event.data.text : '';
      const [, number] = / n(\d+)$/.exec(text) ?? [];
      return number === undefined ? [] : [[event.messageId ?? event.id, Number(number)] as const];
    }),
  );
}

function linesOf(blocks: readonly CapturedEvent[]): string[] {
  return blocks.flatMap((event) => {
    if (isEventOf(event, 'agent:text')) return [`assistant: ${event.data.text}`];
    if (!isEventOf(event, 'agent:rejected')) return [];
    const { text, hook, reason, retry } = event.data;
    const who = hook === undefined ? '' : ` by the hook '${hook}'`;
    const note = `Your answer was rejected${who}, and nobody received it: ${reason}${retry ? '\nAnswer again.' : ''}`;
    return [`assistant: ${text}`, `user: ${note}`];
  });
}

function digestsOf(event: CapturedEvent): string {
  const parts = (event.data.parts ?? []) as unknown as readonly {
    sha256: string;
    size: number;
    mediaType: string;
  }[];
  const names = parts.map(
    ({ mediaType, size, sha256 }) => `\n[${mediaType} ${size} bytes, sha256 ${sha256.slice(0, 8)}…]`,
  );
  return [...names, ...parts.map(({ sha256 }) => ` +${sha256}`)].join('');
}
