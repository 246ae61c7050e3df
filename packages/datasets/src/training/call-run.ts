import type { CallFacts, TrainingCall } from './training-call.ts';

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
