import type { Basis } from '@hansard/prompt';
import type { LogMessage } from '../log/log-node.ts';
import type { ItemState, KnownItem } from './known-item.ts';

/** What decides which items of an agent are in the prompt of a call. */
export interface PromptBounds {
  /** The items of a lower rank were replaced by the summary. */
  readonly compactedUpTo: number;
  readonly summary: KnownItem | null;
  /** The first rank that the policy of the context shows. */
  readonly start: number;
  /** Output of a lower rank is not shown. */
  readonly outputFrom: number;
  /** Whether a result without a call is shown. */
  readonly showsLostResults: boolean;
}

/** Whether the prompt with these bounds has an item of its agent that had arrived by then. */
export function stateIn(bounds: PromptBounds, { kind, rank, node, step }: KnownItem): ItemState {
  const { compactedUpTo, summary, start, outputFrom, showsLostResults } = bounds;
  switch (kind) {
    case 'system':
      return 'shown';
    case 'summary':
      return node === summary?.node ? 'shown' : 'compacted';
    default:
      if (rank < compactedUpTo) return 'compacted';
      if (kind === 'output' && rank < outputFrom) return 'superseded';
      if (step === cutResult || (step === lostResult && !showsLostResults)) return 'omitted';
      return rank < start ? 'omitted' : 'shown';
  }
}

/** The `step` of a result whose call is not in the log. Models refuse it, so no context has it. */
export const lostResult = -1;

/** The `step` of a result whose call is on another path, or retracted. */
export const cutResult = -2;

/** An answer, and what its model was given. */
export class GivenAnswer {
  readonly message: LogMessage;
  readonly basis: Basis;
  /** What it was given and no earlier answer of the agent was, in the order of the prompt. */
  readonly newItems: readonly KnownItem[];
  /** Whether it is the first answer since the last one without tool calls. */
  readonly beginsTurn: boolean;
  readonly #bounds: PromptBounds;
  readonly #arrived: () => readonly KnownItem[];

  constructor(
    facts: Pick<GivenAnswer, 'message' | 'basis' | 'newItems' | 'beginsTurn'>,
    bounds: PromptBounds,
    arrived: () => readonly KnownItem[],
  ) {
    this.message = facts.message;
    this.basis = facts.basis;
    this.newItems = facts.newItems;
    this.beginsTurn = facts.beginsTurn;
    this.#bounds = bounds;
    this.#arrived = arrived;
  }

  /** All that had arrived before the call, in the order in which the agent's model was given it. */
  get arrived(): readonly KnownItem[] {
    return this.#arrived();
  }

  /** Whether the prompt of the call has an item that had arrived. */
  stateOf(item: KnownItem): ItemState {
    return stateIn(this.#bounds, item);
  }

  /** Exactly what the model was given, in the order of the prompt. */
  get given(): readonly KnownItem[] {
    const { start } = this.#bounds;
    const shown = this.arrived.filter((item) => this.stateOf(item) === 'shown');
    const zoneOf = ({ kind, rank }: KnownItem) => {
      if (kind === 'system' && rank < start) return 0;
      return kind === 'summary' ? 1 : 2;
    };
    return shown.sort(
      (one, other) => zoneOf(one) - zoneOf(other) || one.rank - other.rank || one.step - other.step,
    );
  }
}
