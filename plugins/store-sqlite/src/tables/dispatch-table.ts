import type { DatabaseSync } from 'node:sqlite';
import type { DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import {
  compareByStart,
  type DispatchDamage,
  type DispatchListing,
  isInternalTask,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import {
  dispatchExists,
  dispatchNotFound,
  knownEnvelope,
  misplacedAs,
  placeInTime,
  withRenamedTasks,
  writtenName,
} from '@hansard/store-kit';
import type { AcknowledgedLengths, LengthsOfTask } from '../database/acknowledged-lengths.ts';
import { decodeJson, dispatchChecksum, toggleName } from '../database/decode.ts';
import type { DispatchRow, Statements } from '../database/statements.ts';
import { inSnapshot } from '../database/transaction.ts';
import { corrupt } from '../sqlite-errors.ts';
import type { FencedClaim } from '../writer-leases.ts';
import type { TaskTable } from './task-table.ts';

export interface DispatchTableSetup {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly tasks: TaskTable;
  readonly lengths: AcknowledgedLengths;
  readonly file: string;
}

/** A dispatch without the time of its last event. */
export type ListedDispatch = Omit<DispatchListing, 'lastActiveAt'>;

type WrittenRow = Pick<DispatchRow, 'number' | 'taskDir' | 'dispatchId' | 'writtenAs'>;

type NewDispatch = Pick<DispatchRow, 'taskDir' | 'dispatchId' | 'startedAt' | 'epoch' | 'envelope'>;

/** The dispatches without their events. A row has a checksum, and the row of its task says how many there are. */
export class DispatchTable {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #tasks: TaskTable;
  readonly #lengths: AcknowledgedLengths;
  readonly #file: string;

  constructor({ database, statements, tasks, lengths, file }: DispatchTableSetup) {
    this.#database = database;
    this.#statements = statements;
    this.#tasks = tasks;
    this.#lengths = lengths;
    this.#file = file;
  }

  /** The row of a dispatch; null if there is none. @throws STORE_CORRUPT, STORE_MISPLACED */
  find(taskDir: string, dispatchId: string): DispatchRow | null {
    const row = this.findAny(taskDir, dispatchId);
    if (row !== null) this.assertNamed(row, taskDir, dispatchId);
    return row;
  }

  /** The same, under whatever name it was written. @throws STORE_CORRUPT */
  findAny(taskDir: string, dispatchId: string): DispatchRow | null {
    const row = this.#statements.getDispatch.get(taskDir, dispatchId);
    if (row !== undefined) return this.#checked(row, dispatchId);
    const [slot] = this.#lengths.find(taskDir, dispatchId);
    if (slot !== undefined) {
      // Another process may have created or removed the dispatch meanwhile.
      const now = this.#statements.getDispatch.get(taskDir, dispatchId);
      if (now !== undefined) return this.#checked(now, dispatchId);
      if (
        this.#lengths.read(slot.number, taskDir, dispatchId) !== null &&
        !this.#isElsewhere(slot.number, taskDir, dispatchId)
      )
        throw this.#lostError(taskDir, dispatchId, slot.length);
    }
    return inSnapshot(this.#database, () => this.#missing(taskDir, dispatchId));
  }

  /** The row of a dispatch that was not there a moment ago. @throws STORE_CORRUPT if it has been lost */
  #missing(taskDir: string, dispatchId: string): DispatchRow | null {
    const row = this.#statements.getDispatch.get(taskDir, dispatchId);
    if (row !== undefined) return this.#checked(row, dispatchId);
    // From the index, in which the row was looked for.
    const ids = this.#statements.listIds.all(taskDir).map((row) => row.dispatchId);
    const elsewhere = this.#assertComplete(taskDir, ids);
    if (ids.includes(dispatchId)) throw this.#indexError(taskDir, dispatchId);
    const renamed = elsewhere.find((row) => isWrittenAs(row, taskDir, dispatchId));
    if (renamed !== undefined) throw this.#misplaced(renamed, renamed);
    return null;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  get(taskDir: string, dispatchId: string): DispatchRow {
    const row = this.find(taskDir, dispatchId);
    if (row === null) throw dispatchNotFound(taskDir, dispatchId);
    return row;
  }

  /** Every dispatch of a task, and the reasons why some cannot be read. @throws STORE_CORRUPT if a row is missing */
  list(taskDir: string): ListedDispatch[] {
    const acknowledged = this.#lengths.ofTasks();
    return inSnapshot(this.#database, () =>
      this.#list(taskDir, this.#statements.listDispatches.all(taskDir), acknowledged),
    );
  }

  /** The same for several tasks and those that only misplaced dispatches have, with one query for the dispatches of the whole store. */
  listEach(
    taskDirs: readonly string[],
    internal: boolean,
    onTask: (list: () => ListedDispatch[], taskDir: string) => void,
  ): void {
    const acknowledged = this.#lengths.ofTasks();
    inSnapshot(this.#database, () => {
      // A damaged row can have any value as its task.
      const rows = Map.groupBy(this.#statements.listAllDispatches.all(), ({ taskDir }) => String(taskDir));
      const placesOnly = [...rows.keys()].filter((taskDir) => isInternalTask(taskDir) === internal);
      for (const taskDir of new Set([...taskDirs, ...placesOnly]))
        onTask(() => this.#list(taskDir, rows.get(taskDir) ?? [], acknowledged), taskDir);
    });
  }

  #list(taskDir: string, rows: readonly DispatchRow[], acknowledged: LengthsOfTask): ListedDispatch[] {
    const envelopes: DispatchEnvelope[] = [];
    const damaged: ListedDispatch[] = [];
    const fail = (dispatchId: string, error: StoreError) =>
      damaged.push({ taskDir, dispatchId, envelope: null, error });
    for (const row of rows) {
      try {
        this.assertNamed(this.#checked(row, row.dispatchId), taskDir, row.dispatchId);
        envelopes.push(this.decode(row));
      } catch (error) {
        if (!storeErrors.is(error)) throw error;
        fail(String(row.dispatchId), error);
      }
    }
    const ids = rows.map(({ dispatchId }) => dispatchId);
    if (damaged.length === 0) this.#assertComplete(taskDir, ids);
    const numbers = new Set(rows.map(({ number }) => number));
    for (const { number, dispatchId, length } of acknowledged(taskDir, numbers)) {
      // Another process may have removed the dispatch meanwhile.
      if (this.#lengths.read(number, taskDir, dispatchId) === null) continue;
      // A row that has the entry of its place already.
      if (ids.includes(dispatchId) || this.#isElsewhere(number, taskDir, dispatchId)) continue;
      fail(dispatchId, this.#lostError(taskDir, dispatchId, length));
    }
    const whole = envelopes
      .sort(compareByStart)
      .map((envelope) => ({ taskDir, dispatchId: envelope.dispatchId, envelope }));
    return [...whole, ...withRenamedTasks(damaged, `the table dispatches of ${this.#file}`)];
  }

  /** @returns the number of the new dispatch @throws STORE_DISPATCH_EXISTS, STORE_CORRUPT */
  insert(taskDir: string, envelope: DispatchEnvelope, epoch: number): number {
    const { dispatchId } = envelope;
    const startedAt = placeInTime(envelope);
    const text = JSON.stringify(envelope);
    if (this.#statements.getDispatch.get(taskDir, dispatchId) !== undefined)
      throw dispatchExists(taskDir, dispatchId);
    this.#tasks.addDispatch(taskDir, dispatchId);
    return this.#insertRow({ taskDir, dispatchId, startedAt, epoch, envelope: text });
  }

  /** Inserts a removed row again under a new number and the name of its place, without events. `envelope` is JSON. */
  insertCopy({ row }: FencedClaim, envelope = row.envelope): number {
    const { taskDir, dispatchId, startedAt, epoch } = row;
    this.#tasks.addDispatch(taskDir, dispatchId);
    return this.#insertRow({ taskDir, dispatchId, startedAt, epoch, envelope });
  }

  /** The number is one that no dispatch has had, including those that were lost. */
  #insertRow({ taskDir, dispatchId, startedAt, epoch, envelope }: NewDispatch): number {
    const hasEventIds = 0;
    const inDatabase = this.#statements.greatestNumber.get()?.number ?? 0;
    const number = Math.max(inDatabase, this.#lengths.greatestNumber()) + 1;
    const writtenAs = writtenName(taskDir, dispatchId);
    const crc = dispatchChecksum({ number, writtenAs, epoch, hasEventIds, envelope });
    this.#statements.insertDispatch.run(
      ...[number, taskDir, dispatchId, writtenAs, startedAt, epoch, 0, hasEventIds, crc, envelope],
    );
    return number;
  }

  /** Returns a copy of the changed envelope. */
  update({ row }: FencedClaim, updates: EnvelopeUpdates): DispatchEnvelope {
    const changed: Record<string, unknown> = { ...this.decode(row) };
    for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
    const envelope = JSON.stringify(changed);
    this.#statements.setEnvelope.run(envelope, dispatchChecksum({ ...row, envelope }), row.number);
    const written = JSON.parse(envelope) as DispatchEnvelope;
    const startedAt = placeInTime(written);
    if (startedAt !== row.startedAt) this.#statements.setStartedAt.run(startedAt, row.number);
    return written;
  }

  /** Removes the row. @throws STORE_CORRUPT */
  remove({ row: { number, writtenAs } }: FencedClaim): void {
    this.#statements.deleteDispatch.run(number);
    const at = writtenAs.lastIndexOf('/');
    this.#tasks.removeDispatch(writtenAs.slice(0, at), writtenAs.slice(at + 1));
  }

  /** The envelope of a row that an index of starts found, or null if the row or its place in the index is damaged. */
  indexed(row: DispatchRow): DispatchEnvelope | null {
    if (!this.#isWhole(row) || !isWrittenAs(row, row.taskDir, row.dispatchId)) return null;
    const envelope = this.decode(row);
    return placeInTime(envelope) === row.startedAt ? envelope : null;
  }

  /** Whether an index of starts has the row at a wrong place. The place of a damaged row is not known. */
  isMisplaced(row: DispatchRow): boolean {
    return this.#isWhole(row) && placeInTime(this.#parse(row)) !== row.startedAt;
  }

  /** @throws STORE_CORRUPT, STORE_NEWER */
  decode(row: DispatchRow): DispatchEnvelope {
    const { taskDir, dispatchId } = row;
    const place = `Dispatch ${dispatchId} of ${taskDir} in ${this.#file}`;
    return knownEnvelope(this.#parse(row), place, { file: this.#file, dispatchId });
  }

  #parse({ dispatchId, envelope }: DispatchRow): DispatchEnvelope {
    return decodeJson(envelope, `the envelope of dispatch ${dispatchId}`, this.#file, { dispatchId });
  }

  /** The damage of a row; null if it has none. */
  damageOf(taskDir: string, dispatchId: string): DispatchDamage | null {
    const row = this.#statements.getDispatch.get(taskDir, dispatchId);
    if (row === undefined) return null;
    const reason = this.#damageIn(row);
    if (reason === null) return null;
    return {
      place: 'dispatches',
      offset: row.number,
      bytes: String(row.envelope).length,
      eventsBefore: 0,
      lostEvents: 0,
      reason,
    };
  }

  #damageIn(row: DispatchRow): string | null {
    if (!this.#isWhole(row)) return 'the envelope does not have the checksum of the one that was written';
    try {
      this.decode(row);
      return null;
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      return error.message;
    }
  }

  /** @throws STORE_MISPLACED if a whole row was written under another name */
  assertNamed(row: DispatchRow, taskDir: string, dispatchId: string): void {
    if (isWrittenAs(row, taskDir, dispatchId) || !this.#isWhole(row)) return;
    throw this.#misplaced(row, { taskDir, dispatchId });
  }

  #misplaced(
    { number, writtenAs }: WrittenRow,
    at: { readonly taskDir: string; readonly dispatchId: string },
  ): StoreError {
    return misplacedAs(writtenAs, at, `Row ${number} of the table dispatches of ${this.#file}`);
  }

  #indexError(taskDir: string, dispatchId: string): StoreError {
    return corrupt(this.#file, `the index of task ${taskDir} does not find dispatch ${dispatchId}`, {
      details: { dispatchId },
    });
  }

  /** Whether the dispatch of this name and number stands at another place, where it is misplaced. */
  #isElsewhere(number: number, taskDir: string, dispatchId: string): boolean {
    const row = this.#statements.getDispatchNumbered.get(number);
    return row !== undefined && this.#isWhole(row) && isWrittenAs(row, taskDir, dispatchId);
  }

  #checked(row: DispatchRow, dispatchId: string): DispatchRow {
    if (this.#isWhole(row)) return row;
    throw corrupt(this.#file, `the envelope of dispatch ${dispatchId} does not have its checksum`, {
      details: { dispatchId },
    });
  }

  #isWhole(row: DispatchRow): boolean {
    return dispatchChecksum(row) === row.crc;
  }

  /**
   * Checks that a task has each of its dispatches: at its place, or at another one, where it is misplaced. Returns those at other places.
   * @throws STORE_CORRUPT
   */
  #assertComplete(taskDir: string, ids: readonly string[]): readonly WrittenRow[] {
    const { dispatches, digest } = this.#tasks.countsOf(taskDir);
    const isComplete = (names: readonly string[]) =>
      names.length === dispatches && names.reduce(toggleName, 0) === digest;
    if (isComplete(ids)) return [];
    const idOf = ({ writtenAs }: WrittenRow) => writtenAs.slice(taskDir.length + 1);
    const written = this.#statements.listWrittenIn.all(taskDir).filter((row) => !idOf(row).includes('/'));
    const [inPlace, elsewhere] = [true, false].map((isIn) =>
      written.filter((row) => isWrittenAs(row, row.taskDir, row.dispatchId) === isIn),
    ) as [WrittenRow[], WrittenRow[]];
    const known = new Set(ids);
    const unfound = inPlace.find(({ dispatchId }) => !known.has(dispatchId));
    if (unfound !== undefined) throw this.#indexError(taskDir, unfound.dispatchId);
    if (isComplete(written.map(idOf))) return elsewhere;
    throw corrupt(
      this.#file,
      `the list of dispatches of ${taskDir} has ${ids.length} of the ${dispatches} that were written`,
      { details: { taskDir } },
    );
  }

  #lostError(taskDir: string, dispatchId: string, length: number): StoreError {
    return corrupt(
      this.#file,
      `dispatch ${dispatchId} of ${taskDir} with ${length} acknowledged events is missing, because the log of the database was cut or an older copy is at its path`,
      {
        advice: 'Restore a backup, or delete the dispatch if it is not needed.',
        details: { dispatchId, wholeEvents: 0 },
      },
    );
  }
}

function isWrittenAs(row: Pick<DispatchRow, 'writtenAs'>, taskDir: string, dispatchId: string): boolean {
  return row.writtenAs === writtenName(taskDir, dispatchId);
}
