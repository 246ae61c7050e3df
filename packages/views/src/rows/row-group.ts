import type { CapturedEvent, EventOf } from '@hansard/events';
import type { LogNode } from '../log/log-node.ts';
import type { HowHeard } from '../log/saying.ts';
import type { RowAgent, RowKind, RowText } from './row.ts';

/** A delivery of what a row says. */
export interface GroupedHearing {
  readonly agent: RowAgent;
  readonly how: HowHeard;
  readonly position: number;
  readonly eventId: string;
  /** Null: withheld. */
  readonly text: string | null;
}

/** A decision of a hook. */
export interface GroupedDecision extends LogNode<EventOf<'harness:hook_decision'>> {
  readonly agent: RowAgent;
  /** The utterance by which an agent decided; null: none that is in reach. */
  readonly verdict: RowText | null;
  /** What was received because of it. */
  instead: RowText | null;
}

/** The events that make one row, while its reader gathers them. */
export interface RowGroup {
  readonly position: number;
  /** The id and the time of its first event. */
  readonly id: string;
  readonly timestamp: string | null;
  readonly agent: RowAgent;
  kind: RowKind;
  /** The event that the row is about. */
  main: LogNode;
  /** Whether it was settled because later events are too far from it, so that a result can follow. */
  isOutOfReach: boolean;
  /** Of a call. */
  result: LogNode<EventOf<'agent:tool_result'>> | null;
  inference: LogNode<EventOf<'agent:inference'>> | null;
  readonly decisions: GroupedDecision[];
  readonly hearings: GroupedHearing[];
  /** The ids of the agents that could receive what it says. */
  readonly company: readonly string[];
  /** Those of its company of which it is not known whether they received it, once it is settled; null: it is not settled. */
  notKnown: readonly string[] | null;
  /** Harness noise: the run itself, or records about the call. */
  readonly folded: LogNode[];
  /** The positions of all events, in order. */
  readonly events: number[];
  /** The ids of its events, and what else later events can refer to it by. */
  readonly names: string[];
  /** The characters of all events up to its first one. */
  readBefore: number;
}

/** The text of a group, for comparing it with a delivery. */
export function textOf({ main: { event } }: Pick<RowGroup, 'main'>): string {
  return typeof event.data.text === 'string' ? event.data.text : '';
}

export function saysSomething({ kind, main }: RowGroup): boolean {
  return kind === 'said' || kind === 'message' || main.event.type === 'agent:piece_of_text';
}

/** An event as part of a message. */
export type Nameable = Pick<CapturedEvent, 'id' | 'messageId' | 'agentId'>;
