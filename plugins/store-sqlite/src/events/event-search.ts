import type { DatabaseSync } from 'node:sqlite';
import {
  type SearchEventsOptions,
  type SearchHit,
  splitWords,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import type { BacklogRow, HitRow, Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import type { EventReader } from './event-reader.ts';

/** The limits of one transaction that fills the index, so that writers wait only for milliseconds. */
const eventsAtOnce = 500;
const charactersAtOnce = 1_000_000;

/** Full-text search. A search first adds the new events of its scope to the index, so an append costs nothing for it. */
export class EventSearch {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #reader: EventReader;

  constructor(database: DatabaseSync, statements: Statements, reader: EventReader) {
    this.#database = database;
    this.#statements = statements;
    this.#reader = reader;
  }

  search(query: string, { taskDir, dispatchId, limit = 100 }: SearchEventsOptions): SearchHit[] {
    const words = splitWords(query);
    if (words.length === 0) return [];
    // Each word in quotes, so that no word is a command of FTS5.
    const expression = words.map((word) => `"${word}"`).join(' ');
    const backlog = this.#statements.listSearchBacklog.all(taskDir ?? null);
    for (const dispatch of backlog) {
      if (dispatchId === undefined || dispatchId === dispatch.dispatchId) this.#catchUp(dispatch);
    }
    return this.#find(expression, taskDir, dispatchId, limit)
      .reverse()
      .map((hit) => ({ ...hit, event: this.#reader.at(hit.taskDir, hit.dispatchId, hit.position) }));
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

  #catchUp({ taskDir, dispatchId }: BacklogRow): void {
    while (inTransaction(this.#database, () => this.#indexSome(taskDir, dispatchId)));
  }

  /** Adds some events to the index. @returns whether there are more */
  #indexSome(taskDir: string, dispatchId: string): boolean {
    // Removed meanwhile by another process.
    if (this.#statements.getDispatch.get(taskDir, dispatchId) === undefined) return false;
    const found = this.#reader.find(taskDir, dispatchId);
    const { number, length } = found;
    const first = this.#statements.countSearchable.get(number)?.count ?? length;
    if (first >= length) return false;
    let position = first;
    let characters = 0;
    for (const event of this.#reader.events(found, first, Math.min(length, first + eventsAtOnce))) {
      const text = stringsOf(event, unsearchableKeys).join('\n');
      this.#statements.insertSearchText.run(number, position, text);
      position += 1;
      characters += text.length;
      if (characters >= charactersAtOnce) break;
    }
    this.#statements.setSearchable.run(position, number);
    return position < length;
  }
}
