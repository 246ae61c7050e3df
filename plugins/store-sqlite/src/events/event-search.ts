import type { DatabaseSync } from 'node:sqlite';
import {
  indexedText,
  queryWords,
  type SearchEventsOptions,
  type SearchHit,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import type { BacklogRow, HitRow, Statements } from '../database/statements.ts';
import { inSnapshot, inTransaction } from '../database/transaction.ts';
import type { EventReader } from './event-reader.ts';

/** The limits of one transaction that fills the index, so that writers wait only for milliseconds. */
const eventsAtOnce = 500;
const charactersAtOnce = 1_000_000;
/** A search looks so often for dispatches that were rewritten since it began. */
const mostRounds = 8;
/** A text of the index that says by which rule the others were split into words. */
const wordRule = 'hansardwords2';

/** Full-text search. A search first adds the new events of its scope to the index, so an append costs nothing for it. */
export class EventSearch {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #reader: EventReader;
  #hasWordRule = false;

  constructor(database: DatabaseSync, statements: Statements, reader: EventReader) {
    this.#database = database;
    this.#statements = statements;
    this.#reader = reader;
  }

  search(query: string, options: SearchEventsOptions): SearchHit[] {
    const { taskDir, dispatchId, limit = 100 } = options;
    const words = queryWords(query);
    if (words.length === 0) return [];
    // Each word in quotes, so that no word is a command of FTS5.
    const expression = words.map((word) => `"${word}"`).join(' ');
    this.#renew();
    let indexed = 0;
    const onIndexed = (events: number) => {
      indexed += events;
      options.onIndexed?.(indexed);
    };
    for (let round = 0; ; round += 1) {
      let backlog: readonly BacklogRow[] = [];
      const hits = inSnapshot(this.#database, () => {
        backlog = this.#statements.listSearchBacklog
          .all(taskDir ?? null)
          .filter((one) => dispatchId === undefined || dispatchId === one.dispatchId);
        // Events that are appended meanwhile need not be found. A rewrite takes all events of a dispatch out of the index.
        const isComplete = !backlog.some(({ searchable }) => round === 0 || searchable === 0);
        if (!isComplete && round < mostRounds) return null;
        return this.#find(expression, taskDir, dispatchId, limit)
          .reverse()
          .map((hit) => ({ ...hit, event: this.#reader.at(hit.taskDir, hit.dispatchId, hit.position) }));
      });
      if (hits !== null) return hits;
      for (const dispatch of backlog) this.#catchUp(dispatch, onIndexed);
    }
  }

  #find(
    expression: string,
    taskDir: string | undefined,
    dispatchId: string | undefined,
    limit: number,
  ): HitRow[] {
    if (taskDir === undefined) return this.#statements.searchAll.all(expression, limit);
    if (dispatchId === undefined) return this.#statements.searchTask.all(expression, taskDir, limit);
    const number = this.#statements.findDispatch.get(taskDir, dispatchId)?.number;
    if (number === undefined) return [];
    return this.#statements.searchDispatch.all(expression, number, number, limit);
  }

  /** Empties an index that was made by an older rule of words. */
  #renew(): void {
    const hasRule = () => this.#statements.findSearchText.get(`"${wordRule}"`) !== undefined;
    if (this.#hasWordRule) return;
    if (!hasRule())
      inTransaction(this.#database, () => {
        if (hasRule()) return;
        this.#statements.deleteSearchTexts.run();
        this.#statements.resetSearchable.run();
        this.#statements.insertSearchText.run(0, 0, wordRule);
      });
    this.#hasWordRule = true;
  }

  #catchUp({ taskDir, dispatchId }: BacklogRow, onIndexed: (events: number) => void): void {
    let added: number | null;
    do {
      added = inTransaction(this.#database, () => this.#indexSome(taskDir, dispatchId));
      if (added !== null) onIndexed(added);
    } while (added !== null);
  }

  /** Adds some events to the index. @returns how many; null: it has all of them */
  #indexSome(taskDir: string, dispatchId: string): number | null {
    // Removed meanwhile by another process.
    if (this.#statements.getDispatch.get(taskDir, dispatchId) === undefined) return null;
    const found = this.#reader.find(taskDir, dispatchId);
    const { number, length } = found;
    const first = this.#statements.countSearchable.get(number)?.count ?? length;
    if (first >= length) return null;
    let position = first;
    let characters = 0;
    for (const event of this.#reader.events(found, first, Math.min(length, first + eventsAtOnce))) {
      const text = indexedText(stringsOf(event, unsearchableKeys).join('\n'));
      this.#statements.insertSearchText.run(number, position, text);
      position += 1;
      characters += text.length;
      if (characters >= charactersAtOnce) break;
    }
    this.#statements.setSearchable.run(position, number);
    return position - first;
  }
}
