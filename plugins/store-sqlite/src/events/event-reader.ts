import type { CapturedEvent } from '@hansard/events';
import type { EventPage, ReadEventsOptions } from '@hansard/provider';
import { dispatchNotFound, pageRange } from '@hansard/store-kit';
import { decodeLine, eventMissing } from '../database/decode.ts';
import type { Statements } from '../database/statements.ts';
import { findDispatch } from './find-dispatch.ts';

/**
 * Reads events by position. Each answer is compared with the position of the last event, which SQLite finds by another path
 * through its tree. So a damaged tree is never read as a shorter log.
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

  page(taskDir: string, dispatchId: string, options: ReadEventsOptions): EventPage {
    const { number, length } = findDispatch(this.#statements, taskDir, dispatchId, this.#file);
    const { first, end } = pageRange(length, options);
    const events = this.#read(number, first, end - first, taskDir, dispatchId);
    return { events, first, next: end - 1 };
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
