import type { CapturedEvent } from '@hansard/events';
import {
  EventWords,
  foldWord,
  queryWords,
  type SearchEventsOptions,
  type SearchHit,
  splitWords,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import { chainStart, decodeEvent, eventChecksum, misplacedAs } from '@hansard/store-kit';
import { corrupt, isForbidden } from '../database/postgres-errors.ts';
import type { BacklogRow, EventRow, FoundRow, HitRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { isNamed } from '../tables/decode.ts';

/** The greatest number of events in one transaction that fills the index. */
const eventsAtOnce = 500;
/** An index of words refuses longer ones. Those of events and queries are cut in the same way. */
const longestWord = 200;
/** A search looks so often for dispatches that were rewritten since it began. */
const mostRounds = 8;
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
    const values = [words.join(' '), Math.min(limit, 2_000_000_000), ...scope];
    for (let round = 0; ; round += 1) {
      const rows = await this.#tables.rows(statements.search, values);
      const found = this.#found(rows);
      // Events that are appended meanwhile need not be found. A rewrite takes all events of a dispatch out of the index.
      const isComplete = rows.every(({ isBehind, isNew }) => !(round === 0 ? isBehind : isNew));
      if (isComplete || round === mostRounds) return found;
      const backlogs = await this.#tables.rows(statements.listBacklog, scope);
      try {
        for (const backlog of backlogs) await this.#catchUp(backlog, onAdded);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        // A reader. The index has what writers have searched, also since then, and the events after that are read.
        const read = await this.#scan(query, backlogs);
        const hits = [...read, ...this.#found(await this.#tables.rows(statements.search, values))];
        const once = new Map(
          hits.map((hit) => [JSON.stringify([hit.taskDir, hit.dispatchId, hit.position]), hit]),
        );
        return [...once.values()].sort(compareHits).slice(-limit);
      }
    }
  }

  #found(rows: readonly FoundRow[]): SearchHit[] {
    return rows.flatMap((row) => (row.line == null ? [] : this.#decode(row as HitRow))).reverse();
  }

  /** The hits among the events that are not in the index. */
  async #scan(query: string, backlogs: readonly BacklogRow[]): Promise<SearchHit[]> {
    const words = new EventWords(query);
    const hits: SearchHit[] = [];
    for (const { number, first, ...name } of backlogs) {
      // From the event before, whose checksum the first one continues.
      let position = Math.max(0, first - 1);
      let previous: number | null = null;
      for (;;) {
        const { scanEvents } = this.#tables.statements;
        const rows: EventRow[] = await this.#tables.rows(scanEvents, [number, position, eventsAtOnce]);
        for (const row of rows) {
          const event = row.position < first ? null : decodeEvent(row.line);
          if (event !== null && words.areIn(event)) hits.push(this.#decode({ ...name, previous, ...row }));
          previous = row.checksum;
        }
        if (rows.length < eventsAtOnce) break;
        position = (rows.at(-1)?.position ?? 0) + 1;
      }
    }
    return hits;
  }

  /** Empties an index that was made by an older rule of words, which takes the rights of the owner. */
  async #renew(): Promise<void> {
    const { statements } = this.#tables;
    if (this.#hasWordRule) return;
    if ((await this.#tables.rows(statements.findWordRule, [wordRule])).length > 0) this.#hasWordRule = true;
    else await this.#renewIndex();
  }

  async #renewIndex(): Promise<void> {
    const { statements } = this.#tables;
    try {
      await this.#tables.transaction(async (session) => {
        const { rows } = await session.run(statements.insertWordRule, [wordRule]);
        const [{ isOld } = { isOld: false }] = rows;
        if (!isOld) return;
        await session.run(statements.resetSearchable, []);
        await session.run(statements.deleteOldWords, []);
      });
      this.#hasWordRule = true;
    } catch (error) {
      // A reader uses the index as it is.
      if (!isForbidden(error)) throw error;
    }
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

  #decode(hit: HitRow): SearchHit {
    const { taskDir, dispatchId, writtenAs, position, checksum, line, previous } = hit;
    if (!isNamed(hit, hit)) {
      const place = `Dispatch ${dispatchId} of ${taskDir} in ${this.#tables.name}`;
      throw misplacedAs(writtenAs, { taskDir, dispatchId }, place);
    }
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

/** As the index sorts them. */
function compareHits(one: SearchHit, other: SearchHit): number {
  const key = ({ event, taskDir, dispatchId, position }: SearchHit) =>
    [event.timestamp ?? '', taskDir, dispatchId, String(position).padStart(10, '0')] as const;
  const [left, right] = [key(one), key(other)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (left[at] as string) < (right[at] as string) ? -1 : 1;
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
