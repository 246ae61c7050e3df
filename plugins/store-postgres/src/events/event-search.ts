import type { CapturedEvent } from '@hansard/events';
import {
  foldWord,
  queryWords,
  type SearchEventsOptions,
  type SearchHit,
  splitWords,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import { corrupt } from '../database/postgres-errors.ts';
import type { BacklogRow, EventRow, HitRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { chainStart, decodeEvent, eventChecksum } from '../tables/decode.ts';

/** The greatest number of events in one transaction that fills the index. */
const eventsAtOnce = 500;
/** An index of words refuses longer ones. Those of events and queries are cut in the same way. */
const longestWord = 200;
/** A word of the index that says by which rule the others were found. */
const wordRule = 'hansardwords2';

/** Search for words. A search first adds the new events in its scope to the index, so an append costs nothing for it. */
export class EventSearch {
  readonly #tables: Tables;
  #hasWordRule = false;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async search(
    query: string,
    { taskDir, dispatchId, limit = 100, onIndexed = () => {} }: SearchEventsOptions,
  ): Promise<SearchHit[]> {
    const words = cutWords(queryWords(query));
    if (words.length === 0) return [];
    const { statements } = this.#tables;
    const scope = [taskDir ?? null, dispatchId ?? null];
    await this.#renew();
    let indexed = 0;
    const onAdded = (events: number) => {
      indexed += events;
      onIndexed(indexed);
    };
    for (const backlog of await this.#tables.rows(statements.listBacklog, scope))
      await this.#catchUp(backlog, onAdded);
    const values = [words.join(' '), Math.min(limit, 2_000_000_000), ...scope];
    const hits = await this.#tables.rows(statements.search, values);
    return hits.reverse().map((hit) => this.#decode(hit));
  }

  /** Empties an index that was made by an older rule of words, which takes the right to delete its rows. */
  async #renew(): Promise<void> {
    const { statements } = this.#tables;
    if (this.#hasWordRule) return;
    if ((await this.#tables.rows(statements.findWordRule, [wordRule])).length === 0)
      await this.#tables.transaction(async (session) => {
        const { rows } = await session.run(statements.insertWordRule, [wordRule]);
        const [{ isOld } = { isOld: false }] = rows;
        if (!isOld) return;
        await session.run(statements.resetSearchable, []);
        await session.run(statements.deleteOldWords, []);
      });
    this.#hasWordRule = true;
  }

  async #catchUp({ number }: BacklogRow, onAdded: (events: number) => void): Promise<void> {
    for (;;) {
      const added = await this.#indexSome(number);
      if (added > 0) onAdded(added);
      if (added < eventsAtOnce) return;
    }
  }

  /** Adds some events to the index. @returns how many */
  #indexSome(number: BacklogRow['number']): Promise<number> {
    const { statements } = this.#tables;
    return this.#tables.transaction(async (session) => {
      // Locked, because another process may do the same. Appends continue.
      const { rows: locked } = await session.run(statements.lockBacklog, [number]);
      const [backlog] = locked;
      if (backlog === undefined) return 0;
      const { first } = backlog;
      const { rows } = await session.run(statements.scanEvents, [number, first, eventsAtOnce]);
      const last = rows.at(-1);
      if (last === undefined) return 0;
      // A missing position, which only damage leaves, gets no words.
      const found = new Map(rows.map((row) => [row.position, row]));
      const entries = Array.from({ length: last.position - first + 1 }, (_, index) =>
        indexed(found.get(first + index)),
      );
      await session.run(statements.insertWords, [
        ...[
          number,
          first,
          entries.map(({ at }) => at).join(','),
          entries.map(({ words }) => words).join('\n'),
        ],
      ]);
      await session.run(statements.setSearchable, [number, last.position + 1]);
      return rows.length;
    });
  }

  #decode({ taskDir, dispatchId, position, checksum, line, previous }: HitRow): SearchHit {
    const event = decodeEvent(line);
    const start = position === 0 ? chainStart(taskDir, dispatchId) : previous;
    if (event === null || start === null || eventChecksum(start, line) !== checksum) {
      const what = `the event at position ${position} of dispatch ${dispatchId} does not have its checksum`;
      throw corrupt(this.#tables.name, what, {
        advice: `Run \`hansard store verify ${taskDir}/${dispatchId}\`.`,
        details: { dispatchId, offset: position },
      });
    }
    return { taskDir, dispatchId, position, event };
  }
}

function indexed(row: EventRow | undefined): { readonly at: string; readonly words: string } {
  const event: CapturedEvent | null = row === undefined ? null : decodeEvent(row.line);
  if (event === null) return { at: '', words: '' };
  return {
    at: event.timestamp ?? '',
    words: cutWords(stringsOf(event, unsearchableKeys).flatMap(splitWords)).join(' '),
  };
}

/** Each word once, folded. */
function cutWords(words: readonly string[]): readonly string[] {
  const cut = new Set<string>();
  for (const word of words) cut.add([...foldWord(word)].slice(0, longestWord).join(''));
  cut.delete('');
  return [...cut];
}
