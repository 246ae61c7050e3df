import {
  type DispatchEnvelope,
  dispatchStatuses,
  type EnvelopeUpdates,
  type TaskRecord,
} from '@hansard/events';
import {
  compareByStart,
  type DispatchListing,
  type DispatchPage,
  isInternalTask,
  type ListDispatchesOptions,
  storeErrors,
  type TaskListing,
} from '@hansard/provider';
import {
  checksumOf,
  compareListings,
  dispatchExists,
  dispatchNotFound,
  encodeChecksum,
  knownTask,
  type ListingKey,
  listingCursor,
  readListingCursor,
  withRenamedTasks,
  writtenName,
} from '@hansard/store-kit';
import type { Claims } from './claims.ts';
import { type DispatchRow, decodeEnvelope, envelopeFields, isNamed, toRow } from './dispatch-row.ts';
import type { EventReader } from './events/event-reader.ts';
import { corrupt, unavailable } from './server/redis-errors.ts';
import { scripts } from './server/scripts.ts';
import { newerKeys, type Reply, type Server, versionText } from './server/server.ts';

/** The record of a task is replaced so often after others have changed it meanwhile. */
const mostTries = 8;

/** A row that a list of the server names; null: the row is missing. */
interface Found {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly row: DispatchRow | null;
}

/** What a listing selects among the dispatches of a list, in its order. */
interface Selection {
  readonly taskDir: string | undefined;
  readonly internal: boolean;
  readonly isReverse: boolean;
  /** The key after which it begins. Null: at the start. */
  readonly after: ListingKey | null;
  readonly startedSince: string | undefined;
  readonly status: readonly string[] | undefined;
  /** Whether the envelopes have their checksums and the names of their places, or not. */
  readonly isWhole: boolean;
}

const everything = Number.MAX_SAFE_INTEGER;

/** The dispatches without their events, and the records of tasks. */
export class DispatchTable {
  readonly #server: Server;
  readonly #claims: Claims;
  readonly #reader: EventReader;

  constructor(server: Server, claims: Claims, reader: EventReader) {
    this.#server = server;
    this.#claims = claims;
    this.#reader = reader;
  }

  /** Creates a dispatch, and claims one that is running. @throws STORE_DISPATCH_EXISTS */
  async create(taskDir: string, envelope: DispatchEnvelope): Promise<void> {
    const { dispatchId, status } = envelope;
    const name = writtenName(taskDir, dispatchId);
    const isRunning = status === 'running';
    await this.#server.assertDurable();
    const values = [
      ...this.#claims.claimArgs,
      name,
      ...envelopeFields(name, envelope),
      isRunning ? '1' : '0',
    ];
    // Also for a creation whose answer is lost: the claim may have been made.
    if (isRunning) this.#claims.keep(taskDir, dispatchId);
    const [answer] = (await this.#server.run(scripts.create, values)) as [string];
    if (answer === 'ok') return;
    if (isRunning) {
      const row = await this.#reader.row(taskDir, dispatchId).catch(() => null);
      if (row?.writer !== this.#claims.token) this.#claims.drop(taskDir, dispatchId);
    }
    throw answer === 'newer' ? newerKeys(this.#server.name) : dispatchExists(taskDir, dispatchId);
  }

  async get(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null> {
    const [row] = await this.#reader.rows(taskDir, [dispatchId]);
    return row === undefined || row === null ? null : decodeEnvelope(row, this.#server.name);
  }

  /** Every envelope of a task, in the order of the contract. @throws STORE_CORRUPT if one of them is damaged */
  async envelopes(taskDir: string): Promise<DispatchEnvelope[]> {
    const whole: DispatchEnvelope[] = [];
    for await (const { dispatchId, row } of this.namesOf({ taskDir })) {
      if (row === null) throw this.#rowMissing(taskDir, dispatchId);
      whole.push(decodeEnvelope(row, this.#server.name));
    }
    return whole.sort(compareByStart);
  }

  /** The ids of the dispatches of a task that were written under another name. */
  async misplaced(taskDir: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const { dispatchId, row } of this.namesOf({ taskDir }))
      if (row !== null && !isNamed(row)) ids.push(dispatchId);
    return ids;
  }

  /** Returns the changed envelope. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  async update(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const row = await this.#reader.row(taskDir, dispatchId);
    const stored = decodeEnvelope(row, this.#server.name);
    if (!this.#claims.has(row)) throw this.#claims.notClaimed(row);
    const changed: Record<string, unknown> = { ...stored };
    for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
    const envelope = JSON.parse(JSON.stringify(changed)) as DispatchEnvelope;
    const values = [this.#claims.token, row.written, ...envelopeFields(row.written, envelope)];
    const [answer] = (await this.#server.repeatable(scripts.setEnvelope, values)) as [string];
    if (answer === 'missing') throw dispatchNotFound(taskDir, dispatchId);
    if (answer !== 'ok') throw this.#claims.notClaimed(await this.#reader.row(taskDir, dispatchId));
    return envelope;
  }

  /**
   * A page of dispatches: first those whose envelope has its checksum and its name, in the order of their list, then, at the end of the
   * listing, the others by their names. A script computes the checksums, so that a page transfers its own rows only. One that a newer
   * version wrote is at its place.
   */
  async list(options: ListDispatchesOptions): Promise<DispatchPage> {
    const { taskDir, internal = false, status, startedSince, order = 'oldest', limit = 1_000 } = options;
    const last = options.after === undefined ? null : readListingCursor(options.after);
    const of = { taskDir, internal, startedSince, status, isReverse: order === 'newest' };
    const keyed: { readonly entry: DispatchListing; readonly key: ListingKey }[] = [];
    if (last === null || last.startedAt !== null)
      // One more, to know whether there is another page.
      for await (const found of this.#select({ ...of, after: last, isWhole: true }, limit + 1))
        keyed.push({ entry: this.#listed(found), key: { ...found, startedAt: found.row?.started ?? '' } });
    if (keyed.length <= limit) {
      const after = last?.startedAt === null ? last : null;
      for (const entry of await this.#broken({ ...of, after: null, isWhole: false })) {
        const key = { ...entry, startedAt: null };
        if (after === null || compareListings(key, after) > 0) keyed.push({ entry, key });
      }
    }
    const page = keyed.slice(0, limit);
    const end = page.at(-1);
    const next = end === undefined || page.length === keyed.length ? null : listingCursor(end.key);
    return { dispatches: page.map(({ entry }) => entry), next };
  }

  /** Every dispatch of a task, or of the store without what is below `_hansard`, or what is below it. */
  async *namesOf({
    taskDir,
    internal = false,
  }: Pick<ListDispatchesOptions, 'taskDir' | 'internal'>): AsyncGenerator<Found> {
    const all = {
      taskDir,
      internal,
      isReverse: false,
      after: null,
      startedSince: undefined,
      status: undefined,
    };
    for (const isWhole of [true, false]) yield* this.#select({ ...all, isWhole }, everything);
  }

  async putTask(taskDir: string, task: TaskRecord): Promise<void> {
    const record = JSON.stringify(task);
    for (let tries = 0; tries < mostTries; tries += 1) {
      const [sum = null, stored = null] = await this.#record(taskDir);
      if (sum !== null) this.#assertKnown(taskDir, sum, stored);
      const values = [versionText, this.#claims.token, taskDir, sum ?? '', sumOf(record), record];
      const [answer] = (await this.#server.repeatable(scripts.putTask, values)) as [string];
      if (answer === 'newer') throw newerKeys(this.#server.name);
      if (answer === 'ok') return;
    }
    const what = `changed the record of task ${taskDir} during every try to replace it. Try again`;
    throw unavailable(this.#server.name, what, true);
  }

  async task(taskDir: string): Promise<TaskRecord | null> {
    const [sum = null, record = null] = await this.#record(taskDir);
    return this.#decodeTask(taskDir, sum, record);
  }

  /** Every task that has a record or a dispatch. */
  async tasks(): Promise<TaskListing[]> {
    const listed: TaskListing[] = [];
    for (let from = '-'; from !== ''; ) {
      const [last, found] = (await this.#server.repeatable(scripts.listTasks, [from])) as [string, Reply[]];
      for (const each of found) {
        const [taskDir = '', sum = null, record = null] = each as readonly (string | null)[];
        if (taskDir !== null && !isInternalTask(taskDir)) listed.push(this.#listedTask(taskDir, sum, record));
      }
      from = last === '' ? '' : `(${last}`;
    }
    return listed.sort((left, right) => (left.taskDir < right.taskDir ? -1 : 1));
  }

  async *#select(selection: Selection, wanted: number): AsyncGenerator<Found> {
    const { taskDir, internal, isReverse, after, startedSince, status, isWhole } = selection;
    const list = taskDir === undefined ? (internal ? 'li' : 'l') : `t:${taskDir}`;
    const begin = startedSince === undefined ? '-' : `[${startedSince}`;
    let [from, to] = [begin, '+'];
    const place =
      after === null
        ? null
        : [after.startedAt, ...(taskDir === undefined ? [after.taskDir] : []), after.dispatchId].join('\0');
    if (place !== null && isReverse) to = `(${place}`;
    // A task can be continued before the start of the time that is wanted.
    else if (place !== null && (startedSince === undefined || place >= startedSince)) from = `(${place}`;
    const statuses = [status, dispatchStatuses].map((each) =>
      each === undefined ? '' : `,${each.join(',')},`,
    );
    for (let left = wanted; left > 0; ) {
      const args = [list, taskDir ?? '', from, to, isReverse ? '1' : '0', String(Math.min(left, 500))];
      const reply = await this.#server.repeatable(scripts.list, [...args, ...statuses, isWhole ? '1' : '0']);
      const [last, found] = reply as [string, readonly [string, Reply][]];
      for (const [name, row] of found) {
        const at = name.lastIndexOf('/');
        const place = { taskDir: name.slice(0, at), dispatchId: name.slice(at + 1) };
        yield { ...place, row: row === null ? null : toRow(place.taskDir, place.dispatchId, row) };
      }
      left -= found.length;
      if (last === '') return;
      if (isReverse) to = `(${last}`;
      else from = `(${last}`;
    }
  }

  /** The dispatches that cannot be read, by their names. A renamed task is one entry. No filter but the task hides them. */
  async #broken(selection: Selection): Promise<DispatchListing[]> {
    const all = { ...selection, isReverse: false, startedSince: undefined, status: undefined };
    const byTask = new Map<string, DispatchListing[]>();
    for await (const found of this.#select(all, everything)) {
      const ofTask = byTask.get(found.taskDir) ?? [];
      byTask.set(found.taskDir, [...ofTask, this.#listed(found)]);
    }
    const place = `the keys of ${this.#server.name}`;
    return [...byTask.values()]
      .flatMap((ofTask) => withRenamedTasks(ofTask, place))
      .map((entry) => ({ ...entry, lastActiveAt: null }))
      .sort((one, other) => compareListings({ ...one, startedAt: null }, { ...other, startedAt: null }));
  }

  #listed({ taskDir, dispatchId, row }: Found): DispatchListing {
    const unread = { taskDir, dispatchId, envelope: null, lastActiveAt: null };
    if (row === null) return { ...unread, error: this.#rowMissing(taskDir, dispatchId) };
    try {
      const envelope = decodeEnvelope(row, this.#server.name);
      const lastActiveAt = row.last === null ? envelope.startedAt : row.last === '' ? null : row.last;
      return { taskDir, dispatchId, envelope, lastActiveAt };
    } catch (error) {
      if (!storeErrors.is(error)) throw error;
      return { ...unread, error };
    }
  }

  #rowMissing(taskDir: string, dispatchId: string) {
    const what = `the row of dispatch ${dispatchId} of ${taskDir} is missing`;
    return corrupt(this.#server.name, what, { dispatchId }, 'Restore a backup of the server.');
  }

  async #record(taskDir: string): Promise<readonly (string | null)[]> {
    const args = ['HMGET', `${this.#server.base}k:${taskDir}`, 'sum', 'record'];
    return (await this.#server.repeatableCommand(args)) as readonly (string | null)[];
  }

  #listedTask(taskDir: string, sum: string | null, record: string | null): TaskListing {
    try {
      return { taskDir, task: this.#decodeTask(taskDir, sum, record) };
    } catch (error) {
      if (storeErrors.is(error)) return { taskDir, task: null, error };
      throw error;
    }
  }

  /** A damaged record is replaced. @throws STORE_NEWER */
  #assertKnown(taskDir: string, sum: string, record: string | null): void {
    try {
      this.#decodeTask(taskDir, sum, record);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    }
  }

  /** Null for a task without a record. @throws STORE_CORRUPT, STORE_NEWER */
  #decodeTask(taskDir: string, sum: string | null, record: string | null): TaskRecord | null {
    const { name } = this.#server;
    if (sum === null && record === null) return null;
    if (record !== null && sumOf(record) === sum)
      return knownTask(JSON.parse(record), `The record of task ${taskDir} in ${name}`, {
        file: name,
        taskDir,
      });
    throw corrupt(name, `the record of task ${taskDir} does not have its checksum`, { taskDir });
  }
}

function sumOf(record: string): string {
  return encodeChecksum(checksumOf(record));
}
