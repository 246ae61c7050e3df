import type { CapturedEvent, EventData } from '@hansard/events';

/**
 * How a delivery compares with what was said. `same`: the same text. `wrapped`: the text inside a longer one, such as
 * `[Ann]: Hello`. `altered`: another text, or one that a hook altered. `withheld`: a hook stopped the delivery.
 */
export type HowHeard = 'same' | 'wrapped' | 'altered' | 'withheld';

/**
 * Why no later prompt of its agent has an event. `abandoned`: the agent went back behind it. `retracted`: the engine of the agent took it
 * back.
 */
export type Fate = 'abandoned' | 'retracted';

/** A delivery of something said to one agent, or the decision that withheld it. */
export interface Hearing {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  /** The text that the agent received; null: withheld. */
  readonly text: string | null;
  readonly how: HowHeard;
  /** The delivery, or the decision that withheld it. */
  readonly event: CapturedEvent;
  readonly position: number;
  /** The id of the hook decision that altered or withheld it, or of the event that it passed through. */
  readonly via?: string;
  /** Of the delivery, in the transcript of the agent that heard it. Absent: the agent still has it. */
  readonly fate?: Fate;
}

/** The author of something said: an agent, a person, the system or the outside world. */
export type Speaker = EventData<'user:message'>['source'];

/**
 * The id of the agent of this log that said something; '' for the dispatched agent. Null: a person, the system, an agent of another
 * dispatch, whose id can be that of an agent here, or an agent of which only the name is known.
 */
export function speakerIdOf(speaker: Speaker): string | null {
  const { kind, agentId = '', dispatchId } = speaker;
  return kind === 'agent' && dispatchId === undefined && !isNamedOnly(speaker) ? agentId : null;
}

/**
 * The id of the sender of a message that is recorded without it; null if it is recorded, or not known. `creatorOf`: the agent whose call created the
 * receiver.
 */
export function senderOf(
  source: Speaker,
  creatorOf: () => string | undefined,
  idOf: (name: string) => string | null,
): string | null {
  if (isNamedOnly(source)) return idOf(source.name);
  return isDispatchedAgent(source) ? creatorOf() || null : null;
}

/** Whether a message is from the dispatched agent itself, which has no id. */
export function isDispatchedAgent({ kind, agentId = '', dispatchId, hook, name }: Speaker): boolean {
  return kind === 'agent' && agentId === '' && (dispatchId ?? hook ?? name) === undefined;
}

/** Whether an agent of this log is named, and its id is not recorded. */
export function isNamedOnly(speaker: Speaker): speaker is Speaker & { readonly name: string } {
  const { kind, agentId, dispatchId, hook, name } = speaker;
  return kind === 'agent' && name !== undefined && (agentId ?? dispatchId ?? hook) === undefined;
}

/**
 * A content that was said for the first time, and all deliveries of it. Wider than an utterance, which is one kind of
 * saying.
 */
export interface Saying {
  /** The id of `event`. */
  readonly id: string;
  readonly event: CapturedEvent;
  /**
   * `utterance`: an answer of an agent, without tool calls. `text`: a piece of text that a tool call made, or that it sent to another agent.
   * `message`: a message that neither of these is the origin of, such as that of a person.
   */
  readonly kind: 'utterance' | 'text' | 'message';
  readonly speaker: Speaker;
  readonly text: string;
  /** The position of `event` in the log. */
  readonly position: number;
  /** Of an utterance or a text, in the transcript of its author: those that heard it still have it. Absent: its author still has it. */
  readonly fate?: Fate;
  /**
   * The id of the agent to which its author sent it, or the name if the log has no such agent. That it arrived is not recorded. Absent: its author
   * named nobody.
   */
  readonly sentTo?: string;
  /** In the order of the log, with an entry for each delivery, including repeated ones to the same agent. */
  readonly hearings: readonly Hearing[];
}
