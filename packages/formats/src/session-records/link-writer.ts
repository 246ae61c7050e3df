import { type CapturedEvent, definedOnly, type EventLinks, type JsonObject } from '@hansard/events';
import type { SessionDialect } from './session-dialect.ts';

/** Writes substance and cause in the form of a dialect. */
export type WriteLinks = (links: Pick<EventLinks, 'substance' | 'cause'>) => JsonObject;

interface Block {
  readonly id: string;
  readonly messageId?: string;
}

/** `records` holds the events of each record, of which the first names it; `events` holds all events of the log. */
export function createLinkWriter(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  records: readonly (readonly [Block, ...Block[]])[],
): WriteLinks {
  const recordIds = new Map<string, string>();
  for (const blocks of records) {
    for (const { id } of blocks) recordIds.set(id, blocks[0].id);
  }
  for (const [{ id, messageId }] of records) {
    if (messageId !== undefined && !recordIds.has(messageId)) recordIds.set(messageId, id);
  }
  const known = new Set(events.map(({ id }) => id));
  const unwrittenPieces = new Map(
    events
      .filter(({ type, id }) => type === 'agent:piece_of_text' && !recordIds.has(id))
      .map((piece) => [piece.id, piece]),
  );

  /** Leaves out references to events that are not written. A reference to an unknown id stays. */
  function refer(id: string): string[] {
    const recordId = recordIds.get(id);
    if (recordId !== undefined) return [recordId];
    return known.has(id) ? [] : [id];
  }

  return ({ substance = '', cause = [] }) => {
    // In a dialect without pieces of text, the delivery stands for the piece: text that a tool call caused.
    const piece = unwrittenPieces.get(substance);
    const [carried] = piece === undefined && substance !== '' ? refer(substance) : [];
    const causes = [...new Set([piece?.cause ?? cause].flat().flatMap(refer))];
    if (carried !== undefined && dialect.causeRepeatsSubstance) causes.push(carried);
    const [first] = causes;
    return {
      ...definedOnly({ [dialect.substanceKey]: carried }),
      ...(first === undefined ? {} : { [dialect.causeKey]: causes.length === 1 ? first : causes }),
    };
  };
}
