import { createHash } from 'node:crypto';
import type { ContextMessage } from '@hansard/prompt';
import type { TrainedAnswer } from './inference-records.ts';
import type { CallFacts, DroppedCall, TrainingCall } from './training-call.ts';

/** A message of training data, and whether this row trains it. */
export interface TrainingMessage {
  readonly message: ContextMessage;
  /** The thoughts of a trained answer. */
  readonly thinking: string | null;
  readonly isTrained: boolean;
}

/** A run of calls as one conversation. */
export interface Conversation {
  /** The calls, each with one trained message, in order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The prompt of the last call and its answer. The earlier prompts and answers are prefixes of it. */
  readonly messages: readonly TrainingMessage[];
}

export function conversationOf({ calls, answers, last: { prompt, answer } }: CallRun): Conversation {
  const { text, toolCalls } = answer;
  const spoken: ContextMessage = { role: 'assistant', text, toolCalls };
  const messages = [...prompt.context.messages, spoken].map((message, at): TrainingMessage => {
    const own = answers.get(at);
    return { message, thinking: own?.thinking ?? null, isTrained: own !== undefined };
  });
  return { calls, messages };
}

/** Finds rows that are written already: with the same prompt, as its model was given it, and the same answers. */
export class SeenRows {
  readonly #seen = new Set<string>();

  /** Whether a run has a row of its own. If not, all its calls are dropped. */
  isNew(
    { calls, answers, last: { prompt, answer } }: CallRun,
    drop: (dropped: DroppedCall) => void,
  ): boolean {
    const { hash } = prompt.context.manifest;
    const thinking = [...answers].map(([at, one]) => [at, one.thinking]);
    const key = createHash('sha256')
      .update(JSON.stringify([hash, prompt.length, thinking, answer]))
      .digest('base64');
    if (this.#seen.has(key)) {
      for (const { dispatchId, eventId } of calls) drop({ dispatchId, eventId, reason: 'duplicate' });
      return false;
    }
    this.#seen.add(key);
    return true;
  }
}

/** Calls of one agent, each of which continues the previous one. The earlier prompts are prefixes of the last. */
export interface CallRun {
  /** In order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The answer of each call, by its index in the conversation. */
  readonly answers: ReadonlyMap<number, TrainedAnswer>;
  readonly last: Pick<TrainingCall, 'prompt' | 'answer'>;
}

interface OpenRun extends CallRun {
  readonly calls: [CallFacts, ...CallFacts[]];
  readonly answers: Map<number, TrainedAnswer>;
  last: CallRun['last'];
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
  return { calls: [facts], answers: new Map([[prompt.length, answer]]), last: { prompt, answer } };
}

/** The first new message in the prompt is the previous answer. */
function goOn(open: OpenRun, { prompt, answer, continues: _, ...facts }: TrainingCall): void {
  open.calls.push(facts);
  open.answers.set(prompt.length, answer);
  open.last = { prompt, answer };
}
