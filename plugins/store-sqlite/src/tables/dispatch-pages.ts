import type { DatabaseSync } from 'node:sqlite';
import {
  type DispatchListing,
  type DispatchPage,
  isUnreadable,
  type ListDispatchesOptions,
  storeErrors,
} from '@hansard/provider';
import {
  compareListings,
  defaultPageLimit,
  type ListingKey,
  listingCursor,
  pageOfDispatches,
  placeInTime,
  readListingCursor,
} from '@hansard/store-kit';
import { type DispatchRow, dispatchColumns, type Read } from '../database/statements.ts';
import { inSnapshot } from '../database/transaction.ts';
import type { EventReader } from '../events/event-reader.ts';
import { corrupt, isDamage } from '../sqlite-errors.ts';
import type { DispatchTable, ListedDispatch } from './dispatch-table.ts';
import type { TaskTable } from './task-table.ts';

/** How many rows of the index a page reads at most for each dispatch that passes the filter of statuses. */
const mostRowsForOne = 10;

export interface DispatchPagesSetup {
  readonly database: DatabaseSync;
  readonly dispatches: DispatchTable;
  readonly tasks: TaskTable;
  readonly reader: EventReader;
  readonly file: string;
}

/**
 * Pages of dispatches. A page is found by an index of starts, so that it costs the same in a store of any size, if the index alone decides
 * it: every row that it returns is whole and at its place, and another one follows. Any other page is one of the complete list: the last one,
 * which has the dispatches that cannot be read and checks that no row is missing; one beside a damaged row; one for a rare status.
 *
 * Invariant: a page that was found by the index is equal to that of the complete list, unless the index lost an entry. The last of several
 * pages reports that.
 */
export class DispatchPages {
  readonly #setup: DispatchPagesSetup;
  readonly #prepared = new Map<string, Read<DispatchRow>>();

  constructor(setup: DispatchPagesSetup) {
    this.#setup = setup;
  }

  /** @throws STORE_INVALID_CURSOR, STORE_CORRUPT */
  page(options: ListDispatchesOptions): DispatchPage {
    const { dispatches, next } = this.#byIndex(options) ?? this.#ofAll(options);
    return { dispatches: dispatches.map((listed) => this.#withActivity(listed)), next };
  }

  #byIndex(options: ListDispatchesOptions): { dispatches: ListedDispatch[]; next: string } | null {
    const last = options.after === undefined ? null : readListingCursor(options.after);
    if (last?.startedAt === null) return null;
    try {
      return inSnapshot(this.#setup.database, () => this.#select(options, last));
    } catch (error) {
      const codes = ['STORE_CORRUPT', 'STORE_NEWER'] as const;
      if (isDamage(error) || codes.some((code) => storeErrors.is(error, code))) return null;
      throw error;
    }
  }

  #select(
    options: ListDispatchesOptions,
    last: ListingKey | null,
  ): { dispatches: ListedDispatch[]; next: string } | null {
    const { limit = defaultPageLimit, order, status } = options;
    const { sql, values } = pageQuery(options, last);
    const found: ListedDispatch[] = [];
    let place = last;
    let rows = 0;
    for (const row of this.#prepare(sql).iterate(...values)) {
      const { taskDir, dispatchId, startedAt } = row;
      const envelope = this.#setup.dispatches.indexed(row);
      const isInOrder = place === null || compareListings(place, row, order) < 0;
      rows += 1;
      if (envelope === null || !isInOrder || rows > mostRowsForOne * (limit + 1)) return null;
      place = { taskDir, dispatchId, startedAt };
      if (status !== undefined && !status.includes(envelope.status)) continue;
      const end = found.at(-1);
      // Another one follows the page.
      if (found.length === limit && end?.envelope)
        return { dispatches: found, next: listingCursor({ ...end, startedAt: placeInTime(end.envelope) }) };
      found.push({ taskDir, dispatchId, envelope });
    }
    return null;
  }

  #ofAll(options: ListDispatchesOptions): { dispatches: ListedDispatch[]; next: string | null } {
    const page = pageOfDispatches(this.#listAll(options), options);
    // Earlier pages were found by the index.
    if (page.next === null && options.after !== undefined)
      inSnapshot(this.#setup.database, () => this.#assertIndex(options.taskDir));
    return page;
  }

  /** @throws STORE_CORRUPT unless the index has each row at its place */
  #assertIndex(taskDir: string | undefined): void {
    const { sql, values } = pageQuery(taskDir === undefined ? {} : { taskDir }, null, true);
    let entries = 0;
    let place: ListingKey | null = null;
    for (const row of this.#prepare(sql).iterate(...values)) {
      const isInOrder = place === null || compareListings(place, row) < 0;
      if (!isInOrder || this.#setup.dispatches.isMisplaced(row)) throw this.#indexError();
      place = row;
      entries += 1;
    }
    const [count, inTask] =
      taskDir === undefined
        ? ['SELECT count(*) AS number FROM dispatches NOT INDEXED', []]
        : ['SELECT count(*) AS number FROM dispatches NOT INDEXED WHERE task_dir = ?', [taskDir]];
    if (this.#prepare(count).get(...inTask)?.number !== entries) throw this.#indexError();
  }

  #indexError(): Error {
    return corrupt(this.#setup.file, 'an index of its dispatches does not have each of them', {
      advice: 'No dispatch is damaged by that. Rebuild the index with the command REINDEX of sqlite3.',
    });
  }

  /** The dispatches of a task or of all, and an entry for each task that cannot be listed. */
  #listAll({ taskDir, internal = false }: ListDispatchesOptions): ListedDispatch[] {
    const { dispatches, tasks } = this.#setup;
    if (taskDir !== undefined) return listed(() => dispatches.list(taskDir), taskDir);
    const taskDirs = tasks.list(internal).map((task) => task.taskDir);
    try {
      const all: ListedDispatch[] = [];
      dispatches.listEach(taskDirs, internal, (list, task) => void all.push(...listed(list, task)));
      return all;
    } catch (error) {
      if (!isDamage(error)) throw error;
      // A damaged page of the table hides only the tasks that are on it.
      return taskDirs.flatMap((task) => listed(() => dispatches.list(task), task));
    }
  }

  #withActivity(listed: ListedDispatch): DispatchListing {
    const { taskDir, dispatchId, envelope } = listed;
    if (dispatchId === null || envelope === null) return { ...listed, lastActiveAt: null };
    try {
      const [last] = this.#setup.reader.recent(taskDir, dispatchId, 1);
      return { ...listed, lastActiveAt: last === undefined ? envelope.startedAt : last.timestamp };
    } catch (error) {
      if (!storeErrors.is(error) || error.isTransient) throw error;
      return { ...listed, lastActiveAt: null };
    }
  }

  #prepare(sql: string): Read<DispatchRow> {
    const prepared =
      this.#prepared.get(sql) ?? (this.#setup.database.prepare(sql) as unknown as Read<DispatchRow>);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** The dispatches of a task, or the entry of one that cannot be listed. */
function listed(list: () => ListedDispatch[], taskDir: string): ListedDispatch[] {
  try {
    return list();
  } catch (error) {
    if (!isUnreadable(error) || error.isTransient) throw error;
    return [{ taskDir, dispatchId: null, envelope: null, error }];
  }
}

/** The rows after a place, in the order of the options. Statuses are not part of it. `isComplete`: also those that `internal` omits. */
export function pageQuery(
  { taskDir, internal = false, startedSince, order = 'oldest' }: ListDispatchesOptions,
  last: ListingKey | null,
  isComplete = false,
): { readonly sql: string; readonly values: readonly string[] } {
  const [sign, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC'];
  const columns =
    taskDir === undefined ? ['started_at', 'task_dir', 'dispatch_id'] : ['started_at', 'dispatch_id'];
  const conditions: string[] = [];
  const values: string[] = [];
  const add = (condition: string, ...given: readonly string[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (taskDir !== undefined) add('task_dir = ?', taskDir);
  // As `isInternalTask`.
  else if (!isComplete) add(`task_dir ${internal ? '' : 'NOT '}GLOB '_hansard/*'`);
  if (startedSince !== undefined) add('started_at >= ?', startedSince);
  if (last !== null) {
    const place = [
      last.startedAt ?? '',
      ...(taskDir === undefined ? [last.taskDir] : []),
      last.dispatchId ?? '',
    ];
    add(`(${columns.join(', ')}) ${sign} (${columns.map(() => '?').join(', ')})`, ...place);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const sorted = columns.map((column) => `${column} ${direction}`).join(', ');
  return { sql: `SELECT ${dispatchColumns} FROM dispatches ${where} ORDER BY ${sorted}`, values };
}
