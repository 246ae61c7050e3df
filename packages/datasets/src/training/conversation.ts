import type { ContextMessage } from '@hansard/prompt';
import type { CallFacts, DroppedCall, DropReason, TrainingCall } from './training-call.ts';

/** A message of training data, and whether this row trains it. */
export interface TrainingMessage {
  readonly message: ContextMessage;
  /** The thoughts of a trained answer. */
  readonly thinking: string | null;
  readonly isTrained: boolean;
}

/** The conversations that a format can hold. */
export interface RowLimits {
  /** Whether a row may hold answers without training them. */
  readonly canMask: boolean;
  /** The longest prefix that a row can hold; null if none. Absent if a row can hold any conversation. */
  beginning?(conversation: Conversation): Conversation | null;
}

/** A run of calls as one conversation. */
export interface Conversation {
  /** The calls, each with one trained message, in order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The prompt of the last call and its answer. The earlier prompts and answers are prefixes of it. */
  readonly messages: readonly TrainingMessage[];
}

function conversationOf({ calls, thinking, last: { prompt, answer } }: CallRun): Conversation {
  const { text, toolCalls } = answer;
  const spoken: ContextMessage = { role: 'assistant', text, toolCalls };
  const messages = [...prompt.context.messages, spoken].map((message, at): TrainingMessage => {
    const isTrained = thinking.has(at);
    return { message, thinking: thinking.get(at) ?? null, isTrained };
  });
  return { calls, messages };
}

/** The first calls of a conversation, without the rest. */
export function beginningOf({ calls, messages }: Conversation, count: number): Conversation | null {
  const [first, ...more] = calls.slice(0, count);
  if (first === undefined) return null;
  let left = count;
  const end = messages.findIndex(({ isTrained }) => {
    if (isTrained) left -= 1;
    return left === 0;
  });
  return { calls: [first, ...more], messages: messages.slice(0, end + 1) };
}

/** Whether a format can hold any call of a run. If not, all of them are dropped. */
export function canHold(run: CallRun, format: RowLimits, drop: (dropped: DroppedCall) => void): boolean {
  if (format.canMask || !run.holdsOtherAnswers) return true;
  dropFrom(0, run, 'trained_twice', drop);
  return false;
}

/** As many calls of a run as the format can hold, in order; null if none. The others are dropped. */
export function fittedConversation(
  run: CallRun,
  format: RowLimits,
  drop: (dropped: DroppedCall) => void,
): Conversation | null {
  const conversation = conversationOf(run);
  const beginning = format.beginning === undefined ? conversation : format.beginning(conversation);
  dropFrom(beginning?.calls.length ?? 0, run, 'no_turns', drop);
  return beginning;
}

function dropFrom(
  at: number,
  { calls }: CallRun,
  reason: DropReason,
  drop: (dropped: DroppedCall) => void,
): void {
  for (const { dispatchId, eventId } of calls.slice(at)) drop({ dispatchId, eventId, reason });
}

/** Calls of one agent, each of which continues the previous one. The earlier prompts are prefixes of the last. */
export interface CallRun {
  /** In order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The thoughts of each answer, by its index in the conversation. */
  readonly thinking: ReadonlyMap<number, string | null>;
  readonly last: Pick<TrainingCall, 'prompt' | 'answer'>;
  /** Whether the prompts hold an answer from another call. */
  readonly holdsOtherAnswers: boolean;
}

interface OpenRun extends CallRun {
  readonly calls: [CallFacts, ...CallFacts[]];
  readonly thinking: Map<number, string | null>;
  last: CallRun['last'];
  holdsOtherAnswers: boolean;
}

/** Groups the calls of agents into runs. A run is over when the agent's next call does not continue it. */
export class CallRuns {
  readonly #open = new Map<string, OpenRun>();
  readonly #showsThoughtsAsText: boolean;

  /** Thoughts as text would be part of the later prompts, which did not have them. So such an answer ends its run. */
  constructor({ showsThoughtsAsText }: { readonly showsThoughtsAsText: boolean }) {
    this.#showsThoughtsAsText = showsThoughtsAsText;
  }

  add(call: TrainingCall): CallRun[] {
    const open = this.#open.get(call.agentId);
    if (open !== undefined && call.continues && !this.#endsWith(open)) {
      goOn(open, call);
      return [];
    }
    this.#open.set(call.agentId, begin(call));
    return open === undefined ? [] : [open];
  }

  finish(): CallRun[] {
    const runs = [...this.#open.values()];
    this.#open.clear();
    return runs;
  }

  #endsWith({ last: { answer } }: OpenRun): boolean {
    return this.#showsThoughtsAsText && answer.thinking !== null;
  }
}

/** A run of a single call. */
export function runOf(call: TrainingCall): CallRun {
  return begin(call);
}

function begin({ prompt, answer, continues: _, ...facts }: TrainingCall): OpenRun {
  const thinking = new Map([[prompt.length, answer.thinking]]);
  return { calls: [facts], thinking, last: { prompt, answer }, holdsOtherAnswers: prompt.holds('answer') };
}

/** The first new message in the prompt is the previous answer. */
function goOn(open: OpenRun, { prompt, answer, continues: _, ...facts }: TrainingCall): void {
  open.calls.push(facts);
  open.thinking.set(prompt.length, answer.thinking);
  open.last = { prompt, answer };
  open.holdsOtherAnswers ||= prompt.context.added.slice(1).some(({ role }) => role === 'assistant');
}
