import type { LogIndex } from '../log/log-index.ts';
import { type Saying, speakerIdOf } from '../log/saying.ts';
import { deliveryRecordOf } from './delivery-record.ts';
import { PresentAgents } from './present-agents.ts';

const presences = new WeakMap<LogIndex, readonly Presence[]>();

/** Who received a saying, from its deliveries alone. */
export interface Audience {
  /** The ids of the agents that received it, in the order of their first deliveries. '' is the dispatched agent itself. */
  readonly receivers: readonly string[];
  /** The ids of the other agents that could take part at that time and did not receive it, in the order of the log. */
  readonly missing: readonly string[];
  /** The ids of those others of which the log does not record whether they received it, in the order of the log. */
  readonly notKnown: readonly string[];
  /** Whether nobody is missing. Also true if the speaker was alone. Null: not known. */
  readonly isPublic: boolean | null;
}

/**
 * The audience of a saying. A delivery that a hook withheld does not count. `canTakePart` adds what deliveries cannot say, such as
 * that a player has died; absent: every agent that was present.
 */
export function audienceOf(
  index: LogIndex,
  { speaker, position, hearings }: Saying,
  canTakePart: (agentId: string) => boolean = () => true,
): Audience {
  const speakerId = speakerIdOf(speaker);
  const others = companyAt(index, position).filter(
    (agentId) => agentId !== speakerId && canTakePart(agentId),
  );
  const audience = new OpenAudience(speakerId, others);
  for (const { agentId, how } of hearings) if (how !== 'withheld') audience.reached(agentId);
  const record = deliveryRecordOf(index);
  const isShown = (agentId: string) => record.shows(agentId, position);
  const missing = audience.missing.filter(isShown);
  const notKnown = audience.missing.filter((agentId) => !isShown(agentId));
  const isPublic = missing.length > 0 ? false : notKnown.length > 0 ? null : true;
  return { receivers: audience.receivers, missing, notKnown, isPublic };
}

/** From the position of the event with which it came up to that of its end. */
interface Presence {
  readonly agentId: string;
  readonly from: number;
  to: number;
}

/** The ids of the agents that can take part at a position, in the order in which they came. */
function companyAt(index: LogIndex, position: number): string[] {
  return presencesOf(index).flatMap(({ agentId, from, to }) =>
    from <= position && position < to ? [agentId] : [],
  );
}

function presencesOf(index: LogIndex): readonly Presence[] {
  const known = presences.get(index);
  if (known !== undefined) return known;
  const found: Presence[] = [];
  const latest = new Map<string, Presence>();
  const present = new PresentAgents();
  for (const { event, position } of index.nodes) {
    const { agentId = '' } = event;
    const wasPresent = present.has(agentId);
    present.observe(event);
    if (present.has(agentId) === wasPresent) continue;
    const presence = latest.get(agentId);
    if (wasPresent && presence !== undefined) presence.to = position;
    if (wasPresent) continue;
    const begun = { agentId, from: position, to: Infinity };
    latest.set(agentId, begun);
    found.push(begun);
  }
  presences.set(index, found);
  return found;
}

/** The audience of a text while its deliveries arrive; its fields are those of an `Audience`. */
export class OpenAudience {
  readonly #missing: Set<string>;
  readonly #receivers = new Set<string>();

  readonly #speakerId: string | null;

  /** `others`: the ids of the agents that could receive it, beside its speaker; null: no agent said it. */
  constructor(speakerId: string | null, others: readonly string[]) {
    this.#speakerId = speakerId;
    this.#missing = new Set(others);
  }

  get receivers(): readonly string[] {
    return [...this.#receivers];
  }

  get missing(): readonly string[] {
    return [...this.#missing];
  }

  get isPublic(): boolean {
    return this.#missing.size === 0;
  }

  reached(agentId: string): void {
    if (agentId === this.#speakerId) return;
    this.#receivers.add(agentId);
    this.#missing.delete(agentId);
  }
}
