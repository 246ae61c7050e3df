import type { DatabaseSync } from 'node:sqlite';
import type { TaskRecord } from '@hansard/events';
import { isInternalTask, storeErrors, type TaskListing } from '@hansard/provider';
import { dispatchMisplaced, knownTask } from '@hansard/store-kit';
import { decodeJson, headChecksum, taskChecksum, toggleName } from '../database/decode.ts';
import type { HeadRow, Statements, TaskRow } from '../database/statements.ts';
import { inSnapshot } from '../database/transaction.ts';
import { corrupt } from '../sqlite-errors.ts';

export interface TaskTableSetup {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly file: string;
}

type TaskFields = Pick<TaskRow, 'task' | 'dispatches' | 'digest'>;

/** The tasks. Each row has a checksum, and the row of `head` says which rows there are. */
export class TaskTable {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #file: string;

  constructor({ database, statements, file }: TaskTableSetup) {
    this.#database = database;
    this.#statements = statements;
    this.#file = file;
  }

  /** @throws STORE_CORRUPT */
  head(): HeadRow {
    const head = this.#statements.getHead.get();
    if (head !== undefined && headChecksum(head) === head.crc) return head;
    throw corrupt(this.#file, 'the row that counts the tasks has changed');
  }

  /** The row of a task; null if there is none. @throws STORE_CORRUPT */
  find(taskDir: string): TaskRow | null {
    const row = this.#statements.findTask.get(taskDir);
    if (row !== undefined) return this.#checked(row);
    return inSnapshot(this.#database, () => this.#missing(taskDir));
  }

  /** @throws STORE_CORRUPT */
  get(taskDir: string): TaskRecord | null {
    const row = this.find(taskDir);
    return row === null ? null : this.#decode(row);
  }

  /** @throws STORE_CORRUPT if a row is missing */
  list(internal = false): TaskListing[] {
    const listed = inSnapshot(this.#database, () => {
      const rows = this.#statements.listTasks.all();
      const found = rows.map((row) => this.#listed(row));
      if (found.every(({ error }) => error === undefined)) this.#assertComplete(rows);
      return found;
    });
    return listed
      .filter(({ taskDir }) => isInternalTask(taskDir) === internal)
      .sort((left, right) => compare(left.taskDir, right.taskDir));
  }

  /**
   * Creates or replaces the record. A damaged row is written again, with the dispatches that the task has.
   * @throws STORE_CORRUPT if rows of tasks are missing; STORE_NEWER if a newer version wrote the record; STORE_MISPLACED
   */
  put(taskDir: string, record: TaskRecord): void {
    const row = this.#statements.findTask.get(taskDir) ?? this.find(taskDir);
    const present = row !== null && isWhole(row) ? this.#checked(row) : null;
    // One of a newer version is not replaced.
    if (present !== null) this.#decode(present);
    const known = present ?? this.#count(taskDir);
    this.#write(taskDir, { ...known, task: JSON.stringify(record) }, row === null);
  }

  /** Notes that a task has got a dispatch. @throws STORE_CORRUPT */
  addDispatch(taskDir: string, dispatchId: string): void {
    const row = this.find(taskDir);
    const { task, dispatches, digest } = row ?? { task: null, dispatches: 0, digest: 0 };
    const fields = { task, dispatches: dispatches + 1, digest: toggleName(digest, dispatchId) };
    this.#write(taskDir, fields, row === null);
  }

  /** Notes that a task has lost a dispatch. A task without record and dispatches is none. @throws STORE_CORRUPT */
  removeDispatch(taskDir: string, dispatchId: string): void {
    const row = this.find(taskDir);
    if (row === null) return;
    const dispatches = row.dispatches - 1;
    const digest = toggleName(row.digest, dispatchId);
    if (dispatches > 0 || row.task !== null) {
      this.#write(taskDir, { task: row.task, dispatches, digest }, false);
      return;
    }
    this.#statements.deleteTask.run(taskDir);
    this.#changeHead([taskDir], -1);
  }

  /** Gives a row that was written as another task the name of its place. Its dispatches are to be adopted, too. */
  adopt(taskDir: string): void {
    const row = this.#statements.findTask.get(taskDir);
    if (row === undefined || row.writtenAs === taskDir || !isWhole(row)) return;
    this.#write(taskDir, { task: row.task, dispatches: 0, digest: 0 }, false);
    this.#changeHead([row.writtenAs, taskDir], 0);
  }

  #write(taskDir: string, { task, dispatches, digest }: TaskFields, isNew: boolean): void {
    const crc = taskChecksum({ writtenAs: taskDir, task, dispatches, digest });
    this.#statements.putTask.run(taskDir, dispatches, digest, crc, task);
    if (isNew) this.#changeHead([taskDir], 1);
  }

  /** `names`: those that come or go. */
  #changeHead(names: readonly string[], change: 1 | 0 | -1): void {
    const { databaseId, ...head } = this.head();
    const tasks = head.tasks + change;
    const digest = names.reduce(toggleName, head.digest);
    this.#statements.setHead.run(tasks, digest, headChecksum({ databaseId, tasks, digest }));
  }

  /** How many dispatches were written under this name of a task, and the digest of their ids. @throws STORE_CORRUPT */
  countsOf(taskDir: string): Pick<TaskFields, 'dispatches' | 'digest'> {
    return this.find(taskDir) ?? { dispatches: 0, digest: 0 };
  }

  #count(taskDir: string): Omit<TaskFields, 'task'> {
    const ids = this.#statements.listDispatches.all(taskDir).map(({ dispatchId }) => dispatchId);
    return { dispatches: ids.length, digest: ids.reduce(toggleName, 0) };
  }

  /** The row of a task that was not there a moment ago. @throws STORE_CORRUPT if it has been lost */
  #missing(taskDir: string): TaskRow | null {
    const rows = this.#statements.listTasks.all();
    this.#assertComplete(rows);
    // One that was written as this task is misplaced.
    const row = rows.find((other) => other.taskDir === taskDir || other.writtenAs === taskDir);
    return row === undefined ? null : this.#checked(row);
  }

  #assertComplete(rows: readonly TaskRow[]): void {
    const { tasks, digest } = this.head();
    const names = rows.map(({ writtenAs }) => writtenAs);
    if (names.length === tasks && names.reduce(toggleName, 0) === digest) return;
    throw corrupt(
      this.#file,
      `its list of tasks has ${names.length} of the ${tasks} tasks that were written`,
    );
  }

  /** @throws STORE_CORRUPT, STORE_MISPLACED */
  #checked(row: TaskRow): TaskRow {
    const { writtenAs } = row;
    // A damaged row can have any value as its name.
    const taskDir = String(row.taskDir);
    const place = `the table tasks of ${this.#file}`;
    if (isWhole(row) && writtenAs !== taskDir)
      throw dispatchMisplaced(
        { taskDir, dispatchId: null, writtenTaskDir: writtenAs, writtenDispatchId: null },
        place,
      );
    if (isWhole(row)) return row;
    throw corrupt(this.#file, `the record of task ${row.taskDir} does not have its checksum`, {
      details: { taskDir: row.taskDir },
    });
  }

  #listed(row: TaskRow): TaskListing {
    const taskDir = String(row.taskDir);
    try {
      return { taskDir, task: this.#decode(this.#checked(row)) };
    } catch (error) {
      if (storeErrors.is(error)) return { taskDir, task: null, error };
      throw error;
    }
  }

  #decode({ taskDir, task }: TaskRow): TaskRecord | null {
    if (task === null) return null;
    const file = this.#file;
    const record = decodeJson(task, `the record of task ${taskDir}`, file, { taskDir });
    return knownTask(record, `The record of task ${taskDir} in ${file}`, { file, taskDir });
  }
}

function isWhole(row: TaskRow): boolean {
  return taskChecksum(row) === row.crc;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
