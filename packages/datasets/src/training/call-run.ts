import type { CallFacts, TrainingCall } from './training-call.ts';

/** Calls of one agent of which each goes on where the one before ended. The earlier prompts are the beginning of the last. */
export interface CallRun {
  /** In their order; at least one. */
  readonly calls: readonly [CallFacts, ...CallFacts[]];
  /** The thoughts of each answer, by its place in the conversation. */
  readonly thinking: ReadonlyMap<number, string | null>;
  readonly last: Pick<TrainingCall, 'prompt' | 'answer'>;
  /** Whether the prompts hold an answer of none of these calls. */
  readonly holdsOtherAnswers: boolean;
}

interface OpenRun extends CallRun {
  readonly calls: [CallFacts, ...CallFacts[]];
  readonly thinking: Map<number, string | null>;
  last: CallRun['last'];
  holdsOtherAnswers: boolean;
}

/** Gathers the calls of agents into runs: one is over when the agent's next call does not go on with it. */
export class CallRuns {
  readonly #open = new Map<string, OpenRun>();
  readonly #showsThoughtsAsText: boolean;

  /** Thoughts that are text would be in the later prompts, which did not have them: such an answer ends its run. */
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

/** A call by itself. */
export function runOf(call: TrainingCall): CallRun {
  return begin(call);
}

function begin({ prompt, answer, continues: _, ...facts }: TrainingCall): OpenRun {
  const thinking = new Map([[prompt.length, answer.thinking]]);
  return { calls: [facts], thinking, last: { prompt, answer }, holdsOtherAnswers: prompt.holdsAnswers };
}

/** The first message that is new in the prompt is the answer before. */
function goOn(open: OpenRun, { prompt, answer, continues: _, ...facts }: TrainingCall): void {
  open.calls.push(facts);
  open.thinking.set(prompt.length, answer.thinking);
  open.last = { prompt, answer };
  open.holdsOtherAnswers ||= prompt.context.added.slice(1).some(({ role }) => role === 'assistant');
}
