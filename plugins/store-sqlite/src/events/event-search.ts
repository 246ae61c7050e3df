import type { DatabaseSync } from 'node:sqlite';
import type { SearchEventsOptions, SearchHit } from '@hansard/provider';
import { splitWords, stringsOf } from '@hansard/store-kit';
import { decodeLine, eventMissing } from '../database/decode.ts';
import type { BacklogRow, Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';

/** Keys of strings that people do not search for: ids of calls and encoded bytes. */
const unsearchable = new Set(['toolCallId', 'signature', 'replay', 'base64', 'encoded']);

/** The limits of one transaction that fills the index, so that writers wait only for milliseconds. */
const eventsAtOnce = 500;
const charactersAtOnce = 1_000_000;

/** Full-text search. A search first adds the new events of the task to the index, so an append costs nothing for it. */
export class EventSearch {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #file: string;

  constructor(database: DatabaseSync, statements: Statements, file: string) {
    this.#database = database;
    this.#statements = statements;
    this.#file = file;
  }

  search(taskDir: string, query: string, { dispatchId, limit = 100 }: SearchEventsOptions): SearchHit[] {
    const words = splitWords(query);
    if (words.length === 0) return [];
    // Each word in quotes, so that no word is a command of FTS5.
    const expression = words.map((word) => `"${word}"`).join(' ');
    const backlog = this.#statements.listSearchBacklog.all(taskDir);
    for (const dispatch of backlog) {
      if (dispatchId === undefined || dispatchId === dispatch.dispatchId) this.#catchUp(dispatch);
    }
    return this.#find(taskDir, expression, dispatchId, limit)
      .reverse()
      .map((row) => ({
        dispatchId: row.dispatchId,
        position: row.position,
        event: decodeLine(row, this.#file),
      }));
  }

  #find(taskDir: string, expression: string, dispatchId: string | undefined, limit: number) {
    if (dispatchId === undefined) return this.#statements.searchTask.all(expression, taskDir, limit);
    const number = this.#statements.findDispatch.get(taskDir, dispatchId)?.number;
    if (number === undefined) return [];
    return this.#statements.searchDispatch.all(expression, taskDir, number, number, limit);
  }

  #catchUp({ number, length }: BacklogRow): void {
    while (inTransaction(this.#database, () => this.#indexSome(number, length)));
  }

  /** Adds some events to the index. @returns whether there are more */
  #indexSome(number: number, length: number): boolean {
    const first = this.#statements.countSearchable.get(number)?.count;
    if (first === undefined || first >= length) return false;
    let position = first;
    let characters = 0;
    for (const row of this.#statements.pageOfLines.iterate(number, first - 1, eventsAtOnce)) {
      if (row.position !== position) break;
      const text = stringsOf(decodeLine(row, this.#file), unsearchable).join('\n');
      this.#statements.insertSearchText.run(number, position, text);
      position += 1;
      characters += row.line.length;
      if (characters >= charactersAtOnce) break;
    }
    if (position === first) throw eventMissing(position, this.#file);
    this.#statements.setSearchable.run(position, number);
    return position < length;
  }
}
