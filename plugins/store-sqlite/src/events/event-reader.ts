import type { CapturedEvent } from '@hansard/events';
import { type EventPage, type ReadEventsOptions, StoreError } from '@hansard/provider';
import { decodeLine, eventMissing } from '../database/decode.ts';
import type { Statements } from '../database/statements.ts';
import { dispatchNotFound, findDispatch } from './find-dispatch.ts';

/**
 * Reads events by position. What is read is held against the position of the last event, which SQLite finds on another
 * way through its tree: a damaged tree must not look like a shorter log.
 */
export class EventReader {
  readonly #statements: Statements;
  readonly #file: string;

  constructor(statements: Statements, file: string) {
    this.#statements = statements;
    this.#file = file;
  }

  all(taskDir: string, dispatchId: string): CapturedEvent[] {
    const { number, length } = findDispatch(this.#statements, taskDir, dispatchId, this.#file);
    return this.#read(number, 0, length, taskDir, dispatchId);
  }

  recent(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    const { number, length } = findDispatch(this.#statements, taskDir, dispatchId, this.#file);
    const wanted = Math.min(count, length);
    return this.#read(number, length - wanted, wanted, taskDir, dispatchId);
  }

  page(
    taskDir: string,
    dispatchId: string,
    { after = -1, limit = 1000, last }: ReadEventsOptions,
  ): EventPage {
    const { number, length } = findDispatch(this.#statements, taskDir, dispatchId, this.#file);
    if (last !== undefined) {
      const count = Math.min(last, length);
      const events = this.#read(number, length - count, count, taskDir, dispatchId);
      return { events, first: length - count, next: length - 1 };
    }
    const first = after + 1;
    if (first > length) {
      throw new StoreError(
        'STORE_INVALID_CURSOR',
        `Dispatch ${dispatchId} has ${length} events, so nothing can be read after position ${after}. Read from the beginning.`,
        { details: { dispatchId, after, length } },
      );
    }
    const wanted = Math.min(limit, length - first);
    const events = this.#read(number, first, wanted, taskDir, dispatchId);
    return { events, first, next: after + wanted };
  }

  #read(number: number, first: number, wanted: number, taskDir: string, dispatchId: string): CapturedEvent[] {
    if (wanted === 0) return [];
    const rows = this.#statements.pageOfLines.all(number, first - 1, wanted);
    if (rows.length < wanted && this.#statements.findDispatch.get(taskDir, dispatchId)?.number !== number) {
      throw dispatchNotFound(taskDir, dispatchId);
    }
    return Array.from({ length: wanted }, (_, index) => {
      const row = rows[index];
      if (row?.position !== first + index) throw eventMissing(first + index, this.#file);
      return decodeLine(row, this.#file);
    });
  }
}
