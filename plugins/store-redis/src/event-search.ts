import { EventWords, type SearchEventsOptions, type SearchHit, storeErrors } from '@hansard/provider';
import type { DispatchTable } from './dispatch-table.ts';
import type { EventReader } from './events/event-reader.ts';

/** Reads every event of the scope, so its time grows with the scope. @throws STORE_CORRUPT for a damaged dispatch */
export async function searchEvents(
  table: DispatchTable,
  reader: EventReader,
  query: string,
  { taskDir, dispatchId, limit = 100 }: SearchEventsOptions,
): Promise<SearchHit[]> {
  const words = new EventWords(query);
  if (words.words.length === 0) return [];
  let hits: SearchHit[] = [];
  const trim = () => {
    hits = hits.sort(compareHits).slice(-limit);
  };
  const searchOne = async (task: string, id: string) => {
    for (let after = -1; ; ) {
      const { events, first, next } = await reader.page(task, id, { after });
      for (const [at, event] of events.entries())
        if (words.areIn(event)) hits.push({ taskDir: task, dispatchId: id, position: first + at, event });
      // Sorting at every addition would cost more than the search.
      if (hits.length >= 2 * limit + 100) trim();
      if (events.length === 0) return;
      after = next;
    }
  };
  if (taskDir !== undefined && dispatchId !== undefined) await orMissing(searchOne(taskDir, dispatchId));
  else
    for await (const name of table.namesOf(taskDir === undefined ? {} : { taskDir }))
      await orMissing(searchOne(name.taskDir, name.dispatchId));
  trim();
  return hits;
}

/** It does not exist, or was deleted since it was listed. */
async function orMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
  }
}

function compareHits(one: SearchHit, other: SearchHit): number {
  const left = [one.event.timestamp ?? '', one.taskDir, one.dispatchId];
  const right = [other.event.timestamp ?? '', other.taskDir, other.dispatchId];
  for (const [at, text] of left.entries())
    if (text !== right[at]) return text < (right[at] as string) ? -1 : 1;
  return one.position - other.position;
}
