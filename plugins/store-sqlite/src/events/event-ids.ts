import { dispatchChecksum } from '../database/checksums.ts';
import type { Statements } from '../database/statements.ts';
import type { FoundDispatch } from './event-scan.ts';

/** The facts about a dispatch that decide whether it has an event with an id. */
export interface KnownIds {
  readonly number: number;
  length: number;
  /** Empty in a dispatch without events. */
  greatestId: string;
  /** Whether its ids are in `event_ids`. In a dispatch where they are not, each id is greater than the one before. */
  hasEventIds: boolean;
}

export function readKnownIds(
  statements: Statements,
  { number, length, hasEventIds }: FoundDispatch,
): KnownIds {
  const greatest = hasEventIds
    ? statements.greatestEventId.get(number)
    : statements.getIdAt.get(number, length - 1);
  return { number, length, greatestId: greatest?.id ?? '', hasEventIds };
}

/** The position of the event with this id, or null. */
export function findPosition(statements: Statements, known: KnownIds, id: string): number | null {
  if (id > known.greatestId) return null;
  if (known.hasEventIds) return statements.findEventId.get(known.number, id)?.position ?? null;
  return findAmongGrowing(statements, known, id);
}

/** Records the new id of the next event. The first id that does not grow starts the index of ids. */
export function noteId(statements: Statements, known: KnownIds, id: string): void {
  const grows = id > known.greatestId;
  if (!grows && !known.hasEventIds) {
    startIndexOfIds(statements, known.number);
    known.hasEventIds = true;
  }
  if (known.hasEventIds) statements.insertEventId.run(known.number, id, known.length);
  if (grows) known.greatestId = id;
}

export function startIndexOfIds(statements: Statements, number: number): void {
  const row = statements.getDispatchNumbered.get(number);
  if (row === undefined) return;
  statements.insertAllEventIds.run(number);
  statements.setHasEventIds.run(dispatchChecksum({ ...row, hasEventIds: 1 }), number);
}

function findAmongGrowing(statements: Statements, known: KnownIds, id: string): number | null {
  let low = 0;
  let high = known.length - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const found = statements.getIdAt.get(known.number, middle)?.id ?? '';
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
