import { type CapturedEvent, definedOnly, type EventLinks, type JsonObject } from '@hansard/events';
import type { TranscriptMessage } from '@hansard/prompt';
import { exactCallKey } from '../record-links.ts';
import type { SessionDialect } from '../session-dialect.ts';
import { createCallWriter } from './call-writer.ts';
import type { WrittenNames } from './written-names.ts';

/** The links of a record in the form of a dialect, and the keys of those that the dialect cannot hold. */
export interface WrittenLinks {
  readonly fields: JsonObject;
  readonly lost: ReadonlySet<string>;
}

/** Writes the links of each record, in order. */
export type WriteLinks = (
  links: Pick<EventLinks, 'substance' | 'cause' | 'via'>,
  blocks: readonly CapturedEvent[],
  message?: Partial<TranscriptMessage>,
) => WrittenLinks;

/** `records` holds the events of each record, of which the first names it; `events` holds all events of the log. */
export function createLinkWriter(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  records: readonly (readonly [CapturedEvent, ...CapturedEvent[]])[],
  names: WrittenNames,
): WriteLinks {
  const { substanceKey, causeKey, mayHaveBoth } = dialect;
  const recordIds = new Map<string, string>();
  for (const blocks of records) {
    const recordId = names.idOf(blocks[0]);
    for (const { id } of blocks) recordIds.set(id, recordId);
  }
  for (const [first] of records) {
    const { messageId } = first;
    if (messageId !== undefined && !recordIds.has(messageId)) recordIds.set(messageId, names.idOf(first));
  }
  const calls = createCallWriter();
  const known = new Map(events.map((event) => [event.id, event]));

  /** Leaves out references to events that are not written. A reference to an unknown id stays. */
  function refer(id: string, field: string, lost: Set<string>): string[] {
    const recordId = recordIds.get(id);
    if (recordId !== undefined) return [recordId];
    const event = known.get(id);
    if (event === undefined) return [id];
    if (!isAddedByReader(event)) lost.add(field);
    return [];
  }

  /** In a dialect without pieces of text, a delivery stands for the piece: text that a tool call caused. */
  function unwrittenPiece(substance: string | undefined): CapturedEvent | undefined {
    const piece = substance === undefined || recordIds.has(substance) ? undefined : known.get(substance);
    return piece?.type === 'agent:piece_of_text' ? piece : undefined;
  }

  return ({ substance, cause = [], via }, blocks, { toolCallId: ownCallId, source } = noMessage) => {
    const lost = new Set<string>();
    const piece = unwrittenPiece(substance);
    const [carried] =
      substance === undefined || piece !== undefined ? [] : refer(substance, substanceKey, lost);
    if (piece !== undefined && !isAddedByReader(piece)) lost.add(substanceKey);
    const isSubstanceLost = lost.size > 0;
    // The cause of a piece takes its place; a log with both links may have named its substance as its cause, too.
    if (isSubstanceLost) lost.add(causeKey);
    const named: string[] = [piece?.cause ?? cause].flat();
    const causes = named.flatMap((id) => refer(id, causeKey, lost));
    if (substance !== undefined && via !== undefined) {
      const passed = refer(via, causeKey, lost);
      if (carried === undefined || mayHaveBoth) {
        causes.push(...passed);
        named.push(via);
      } else if (passed.length > 0) {
        lost.add(causeKey);
        const { callId } = calls.meantCall([...named, via], ownCallId);
        if (callId !== undefined) lost.add(exactCallKey);
      }
    }
    // A content that came directly has the same record as its cause.
    if (carried !== undefined && mayHaveBoth && causes.length === 0) causes.push(carried);
    const written = named.filter((id) => recordIds.has(id) || !known.has(id));
    const [onlyCause, ...otherCauses] = substance === undefined ? written : [];
    const caller =
      onlyCause === undefined || otherCauses.length > 0 ? undefined : calls.soleCaller(onlyCause);
    if (!dialect.kinds.includes('piece_of_text') && caller !== undefined && source?.agentId === caller) {
      // In such a dialect, these are the links of a delivery of a piece of text, and are read as that.
      lost.add(substanceKey).add(causeKey);
    }
    const meant = calls.meantCall(named, ownCallId);
    calls.add(blocks);
    if (meant.isLost || (isSubstanceLost && meant.callId !== undefined)) lost.add(exactCallKey);
    const [first, ...others] = new Set(causes);
    return {
      fields: {
        ...definedOnly({ [substanceKey]: carried }),
        ...(first === undefined ? {} : { [causeKey]: others.length === 0 ? first : [first, ...others] }),
        ...definedOnly({ [exactCallKey]: meant.callId }),
      },
      lost,
    };
  };
}

const noMessage: Partial<TranscriptMessage> = {};

/** Whether an event was added when the log was read: a decision or a text that has no record of its own. */
export function isAddedByReader({ type, data }: CapturedEvent): boolean {
  return data.record === null && (type === 'agent:piece_of_text' || type === 'harness:hook_decision');
}
