import type { TaskRecord } from '@hansard/events';
import { isStoreError, type TaskListing } from '@hansard/provider';
import { recordChecksum } from '../database/checksums.ts';
import type { TaskRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeRecord } from './decode.ts';

/** The records of tasks. */
export class TaskTable {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async put(taskDir: string, task: TaskRecord): Promise<void> {
    const record = JSON.stringify(task);
    await this.#tables.create();
    const values = [taskDir, recordChecksum(taskDir, record), record];
    await this.#tables.repeatable(this.#tables.statements.putTask, values);
  }

  async get(taskDir: string): Promise<TaskRecord | null> {
    const [row] = await this.#tables.rows(this.#tables.statements.getTask, [taskDir]);
    return row === undefined ? null : decodeRecord(row, this.#tables.name);
  }

  /** Every task that has a record or a dispatch. */
  async list(): Promise<TaskListing[]> {
    const rows = await this.#tables.rows(this.#tables.statements.listTasks, []);
    return rows
      .map((row) => this.#listed(row))
      .sort((left, right) => (left.taskDir < right.taskDir ? -1 : 1));
  }

  #listed(row: TaskRow): TaskListing {
    const { taskDir } = row;
    try {
      return { taskDir, task: decodeRecord(row, this.#tables.name) };
    } catch (error) {
      if (isStoreError(error)) return { taskDir, task: null, error };
      throw error;
    }
  }
}
