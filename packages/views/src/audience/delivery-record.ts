import type { CapturedEvent } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import type { LogIndex } from '../log/log-index.ts';

/** How the events of a log refer to each other, as far as a reader knows. */
export interface LinkReading {
  /** The tool call that a result answers. */
  callOf(event: CapturedEvent, position: number): CapturedEvent | null;
  /** Whether an id names something that was said. */
  isSaid(id: string): boolean;
}

/**
 * Whether the log would show it if an agent had received something. Takes the events of a dispatch in append order.
 *
 * 1. A session that records what each model was given also links whatever it delivers.
 * 2. Any other log shows deliveries only if it links some of them, or names the agents that messages come from. The engine of an agent
 *    without an id gives its agents more than it reports.
 * 3. Where such a log has a delivery without a link to its content, that delivery can carry anything that was said before, and
 *    so can whatever passes it on.
 * 4. In a log whose beginning was written by something else than a session, 1 is true of what follows the first recorded prompt.
 */
export class DeliveryRecord {
  /** By agent: the last position that `#unlinkedSince` gave for its deliveries. */
  readonly #unlinked = new Map<string, number>();
  /** The same by the ids of deliveries. */
  readonly #origins = new Map<string, number>();
  /** The same, of the part of the log that no session wrote. */
  #unlinkedBefore: ReadonlyMap<string, number> = new Map();
  /** Where the part begins that a session wrote. Infinity: nowhere. */
  #sessionFrom = Number.POSITIVE_INFINITY;
  #hasUnrecorded = false;
  #linksDeliveries = false;
  #hasEngine = false;
  /** The first position about which `shows` can have another answer since the last event. Infinity: none. */
  #changedFrom = Number.POSITIVE_INFINITY;
  /** The message of an answer whose `agent:inference` has not come. */
  #pending: string | null = null;
  readonly #recordedAnswers: ReadonlySet<string>;
  readonly #isWhole: boolean;

  /**
   * `recordedAnswers`: the ids of messages whose prompts are recorded, if the whole log is in memory. Absent: its events come one by
   * one, and what a session wrote is not kept.
   */
  constructor(recordedAnswers?: ReadonlySet<string>) {
    this.#recordedAnswers = recordedAnswers ?? new Set();
    this.#isWhole = recordedAnswers !== undefined;
  }

  /** Returns the first position about which `shows` can have another answer now. Infinity: none. */
  observe(event: CapturedEvent, position: number, links: LinkReading): number {
    this.#changedFrom = Number.POSITIVE_INFINITY;
    const { agentId = '', type } = event;
    const messageId = event.messageId ?? event.id;
    if (this.#pending !== null && this.#pending !== event.messageId) this.#unrecorded();
    if (isAnswer(event)) {
      if (!this.#recordedAnswers.has(messageId)) this.#pending = messageId;
    } else if (isRecordedPrompt(event)) this.#recorded(position);
    if (agentId === '' && !this.#hasEngine && /^(?:agent|user):/.test(type)) {
      this.#hasEngine = true;
      this.#changedFrom = 0;
    }
    const since = this.#unlinkedSince(event, position, links);
    if (since !== null) this.#deliver(event, since);
    return this.#changedFrom;
  }

  /** After the last event. */
  end(): void {
    if (this.#pending !== null) this.#unrecorded();
  }

  /** Whether the log shows every delivery to an agent of what was said at a position. */
  shows(agentId: string, position: number): boolean {
    if (position >= this.#sessionFrom) return true;
    if (!this.#linksDeliveries || this.#hasEngine) return false;
    const unlinked = this.#sessionFrom === Number.POSITIVE_INFINITY ? this.#unlinked : this.#unlinkedBefore;
    return (unlinked.get(agentId) ?? -1) <= position;
  }

  #recorded(position: number): void {
    this.#pending = null;
    if (this.#sessionFrom !== Number.POSITIVE_INFINITY) return;
    this.#changedFrom = 0;
    this.#sessionFrom = this.#hasUnrecorded ? position : 0;
    this.#unlinkedBefore = this.#hasUnrecorded ? new Map(this.#unlinked) : new Map();
  }

  #unrecorded(): void {
    this.#pending = null;
    this.#hasUnrecorded = true;
    if (this.#sessionFrom === Number.POSITIVE_INFINITY) return;
    this.#changedFrom = 0;
    this.#sessionFrom = Number.POSITIVE_INFINITY;
  }

  #deliver({ id, agentId = '' }: CapturedEvent, since: number): void {
    const last = this.#unlinked.get(agentId) ?? -1;
    this.#unlinked.set(agentId, Math.max(since, last));
    const isOfSession = this.#sessionFrom !== Number.POSITIVE_INFINITY;
    if (!this.#hasEngine && (this.#isWhole || !isOfSession)) this.#origins.set(id, since);
    if (isOfSession || !this.#linksDeliveries || this.#hasEngine || since <= last) return;
    this.#changedFrom = Math.min(this.#changedFrom, Math.max(0, last));
  }

  #links(): void {
    if (this.#linksDeliveries) return;
    this.#linksDeliveries = true;
    this.#changedFrom = 0;
  }

  /**
   * The position from which on the content of a delivery can come, where the log does not say it: its own, or that of an earlier
   * delivery that it passes on. Null: the log says it, or the event delivers nothing.
   */
  #unlinkedSince(event: CapturedEvent, position: number, links: LinkReading): number | null {
    const { substance, cause } = event;
    const causes = [cause ?? []].flat();
    if (isReadableAs(event, 'user:message')) {
      if (substance !== undefined || event.data.source.kind === 'agent') this.#links();
      if (substance !== undefined) return this.#origins.get(substance) ?? null;
      // A cause says that the content is new, unless it is an utterance: of that the content can be made.
      return causes.length === 0 || causes.some((id) => links.isSaid(id)) ? position : null;
    }
    if (isReadableAs(event, 'agent:tool_result')) {
      if (substance !== undefined) this.#links();
      const call = links.callOf(event, position);
      // That a result comes of its own call says nothing about its content.
      const carried = [...(substance === undefined ? causes : [substance])].filter(
        (id) => id !== call?.id && id !== call?.messageId,
      );
      if (carried.length === 0) return position;
      const since = carried.flatMap((id) => this.#origins.get(id) ?? []);
      return since.length === 0 ? null : Math.max(...since);
    }
    const isObservation = event.type === 'agent:output' && event.messageId === undefined;
    return isObservation && substance === undefined ? position : null;
  }
}

const records = new WeakMap<LogIndex, DeliveryRecord>();

/** Computed at the first call for an index, then kept with it. */
export function deliveryRecordOf(index: LogIndex): DeliveryRecord {
  const known = records.get(index);
  if (known !== undefined) return known;
  const recorded = index.events.filter(isRecordedPrompt).flatMap(({ messageId }) => messageId ?? []);
  const record = new DeliveryRecord(new Set(recorded));
  const links: LinkReading = {
    callOf: (event, position) => index.callOf({ event, position })?.event ?? null,
    isSaid(id) {
      const node = index.find(id);
      return node !== null && index.sayingOf(node) !== null;
    },
  };
  for (const { event, position } of index.nodes) record.observe(event, position, links);
  record.end();
  records.set(index, record);
  return record;
}

/** Whether an event records what a model was given. */
function isRecordedPrompt(event: CapturedEvent): boolean {
  return isReadableAs(event, 'agent:inference') && event.data.context !== undefined;
}

function isAnswer({ type, messageId }: CapturedEvent): boolean {
  if (type === 'agent:output') return messageId !== undefined;
  return type === 'agent:text' || type === 'agent:thinking' || type === 'agent:tool_call';
}
