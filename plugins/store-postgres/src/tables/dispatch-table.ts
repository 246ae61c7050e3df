import { type DispatchEnvelope, dispatchStatuses, type EnvelopeUpdates } from '@hansard/events';
import {
  compareByStart,
  type DispatchListing,
  type DispatchPage,
  type ListDispatchesOptions,
  storeErrors,
} from '@hansard/provider';
import {
  dispatchExists,
  dispatchMisplaced,
  listingCursor,
  placeInTime,
  readListingCursor,
  writtenName,
} from '@hansard/store-kit';
import type { Claims, FencedClaim } from '../claims.ts';
import type { Session, Value } from '../database/database.ts';
import type { BigInt64, ListedRow } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope, envelopeChecksum, isNamed } from './decode.ts';

/** The dispatches without their events. */
export class DispatchTable {
  readonly #tables: Tables;
  readonly #claims: Claims;
  readonly #now: () => number;

  /** `now`: the monotonic time. */
  constructor(tables: Tables, claims: Claims, now: () => number) {
    this.#tables = tables;
    this.#claims = claims;
    this.#now = now;
  }

  /** Creates a dispatch, and claims one that is running. @throws STORE_DISPATCH_EXISTS */
  async create(taskDir: string, envelope: DispatchEnvelope): Promise<void> {
    const { statements } = this.#tables;
    const { dispatchId, status } = envelope;
    const startedAt = placeInTime(envelope);
    const isRunning = status === 'running';
    const text = JSON.stringify(envelope);
    await this.#tables.create();
    await this.#tables.transaction(async (session) => {
      await this.#tables.assertVersion(session);
      if (isRunning) await this.#claims.begin(session);
      const writtenAs = writtenName(taskDir, dispatchId);
      const { count } = await session.run(statements.insertDispatch, [
        ...[taskDir, dispatchId, writtenAs, startedAt, status],
        ...[isRunning ? this.#claims.token : null, isRunning ? 1 : 0],
        ...[envelopeChecksum({ writtenAs, startedAt, status, envelope: text }), text],
      ]);
      if (count === 0) throw dispatchExists(taskDir, dispatchId);
    });
    if (isRunning) this.#claims.keep(taskDir, dispatchId);
  }

  async get(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null> {
    const [row] = await this.#tables.rows(this.#tables.statements.getDispatch, [taskDir, dispatchId]);
    return row === undefined ? null : decodeEnvelope(row, this.#tables.name);
  }

  /** Every envelope of a task, in the order of the contract. @throws STORE_CORRUPT if one of them is damaged */
  async envelopes(taskDir: string): Promise<DispatchEnvelope[]> {
    const rows = await this.#tables.rows(this.#tables.statements.getDispatches, [taskDir]);
    return rows.map((row) => decodeEnvelope(row, this.#tables.name)).sort(compareByStart);
  }

  /** The ids of the dispatches of a task that were written under another name. */
  async misplaced(taskDir: string): Promise<string[]> {
    const rows = await this.#tables.rows(this.#tables.statements.getDispatches, [taskDir]);
    return rows.filter((row) => !isNamed(row, row)).map(({ dispatchId }) => dispatchId);
  }

  /** Returns the changed envelope. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  update(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const { statements } = this.#tables;
    return this.#tables.change(taskDir, dispatchId, async (session, row) => {
      const claim = this.#claims.own(row);
      const changed: Record<string, unknown> = { ...decodeEnvelope(row, this.#tables.name) };
      for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
      const text = JSON.stringify(changed);
      const envelope = JSON.parse(text) as DispatchEnvelope;
      const { status } = envelope;
      const startedAt = placeInTime(envelope);
      const { number, writtenAs } = claim.row;
      const checksum = envelopeChecksum({ writtenAs, startedAt, status, envelope: text });
      await session.run(statements.setEnvelope, [number, startedAt, status, checksum, text]);
      if (status !== 'running') await session.run(statements.keepLength, [number]);
      return envelope;
    });
  }

  /** Removes a dispatch with its events. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  async remove(taskDir: string, dispatchId: string): Promise<BigInt64> {
    const since = this.#now();
    return this.#tables.change(taskDir, dispatchId, async (session, row) => {
      await removeRows(this.#tables, session, this.#claims.takeOver(row, since));
      return row.number;
    });
  }
}

/** Removes every row of a dispatch, with those that were kept when losses were accepted. */
async function removeRows(
  { statements }: Tables,
  session: Session,
  { row: { number } }: FencedClaim,
): Promise<void> {
  await session.run(statements.deleteWords, [number]);
  await session.run(statements.deleteEvents, [number]);
  await session.run(statements.deleteLosses, [number]);
  await session.run(statements.deleteDispatch, [number]);
}

/** More rows would be more than one answer can hold. */
const mostRows = 1_000_000;

/**
 * A page of dispatches: first those whose envelope has its checksum and its name, in the order of the index of starts, then, at the end of
 * the listing, the others by their names. Those of a renamed task are one entry. The server computes the checksums, so that a page transfers its own rows only. So one that a newer
 * version wrote is at its place, and a filter of statuses lets it pass if this version does not know its status.
 */
export async function listDispatches(
  tables: Tables,
  { order = 'oldest', after, limit = 1_000, ...filters }: ListDispatchesOptions,
): Promise<DispatchPage> {
  const last = after === undefined ? null : readListingCursor(after);
  // One more, to know whether there is another page.
  const wanted = Math.min(limit, mostRows) + 1;
  const rows: ListedRow[] = [];
  if (last === null || last.startedAt !== null) {
    const place = last === null ? null : [last.startedAt, last.taskDir, last.dispatchId];
    rows.push(...(await select(tables, { ...filters, order, isWhole: true, place }, wanted)));
  }
  const whole = rows.length;
  if (rows.length < wanted) {
    const place = last === null || last.startedAt !== null ? null : [last.taskDir, last.dispatchId];
    const { taskDir, internal = false } = filters;
    const scope = taskDir === undefined ? { internal } : { taskDir };
    rows.push(...(await select(tables, { ...scope, isWhole: false, place }, wanted - rows.length)));
  }
  const dispatches = rows.slice(0, wanted - 1).map((row) => listed(row, tables.name));
  const end = dispatches.at(-1);
  if (rows.length < wanted || end === undefined) return { dispatches, next: null };
  const { taskDir } = end;
  const dispatchId = rows[dispatches.length - 1]?.dispatchId ?? null;
  const startedAt = dispatches.length <= whole ? (rows[dispatches.length - 1]?.startedAt ?? '') : null;
  return { dispatches, next: listingCursor({ taskDir, dispatchId, startedAt }) };
}

interface Selection
  extends Pick<ListDispatchesOptions, 'taskDir' | 'internal' | 'status' | 'startedSince' | 'order'> {
  /** Whether the envelopes have their checksums, and the names of their places. */
  readonly isWhole: boolean;
  /** The columns of the row after which the page begins. */
  readonly place: readonly (string | null)[] | null;
}

function select(
  tables: Tables,
  { taskDir, internal = false, status, startedSince, order = 'oldest', isWhole, place }: Selection,
  limit: number,
): Promise<ListedRow[]> {
  const values: Value[] = [];
  const conditions: string[] = [];
  const add = (condition: string, ...given: readonly Value[]) => {
    const filled = given.reduce<string>(
      (text, value) => text.replace('?', `$${values.push(value)}`),
      condition,
    );
    conditions.push(filled);
  };
  const columns = isWhole ? ['started_at', 'task_dir', 'dispatch_id'] : ['task_dir', 'dispatch_id'];
  const isDescending = isWhole && order === 'newest';
  if (taskDir !== undefined) add('d.task_dir = ?', taskDir);
  // As `isInternalTask`.
  else add(`${internal ? '' : 'NOT '}starts_with(d.task_dir, '_hansard/')`);
  if (status !== undefined)
    add(
      "(d.status = ANY (string_to_array(?, ',')) OR d.status <> ALL (string_to_array(?, ',')))",
      status.join(','),
      dispatchStatuses.join(','),
    );
  if (startedSince !== undefined) add('d.started_at >= ?', startedSince);
  if (place !== null)
    add(`(${columns.join(', ')}) ${isDescending ? '<' : '>'} (${place.map(() => '?').join(', ')})`, ...place);
  const sorted = columns.map((column) => `d.${column} ${isDescending ? 'DESC' : 'ASC'}`).join(', ');
  const statement = tables.statements.listDispatches({ conditions, isWhole, order: sorted });
  return tables.rows(statement, [...values, limit]);
}

function listed(row: ListedRow, name: string): DispatchListing {
  const { taskDir, dispatchId } = row;
  try {
    const envelope = decodeEnvelope(row, name);
    return { taskDir, dispatchId, envelope, lastActiveAt: row.hasEvents ? row.lastAt : envelope.startedAt };
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    if (row.isTask && storeErrors.is(error, 'STORE_MISPLACED')) {
      const { writtenTaskDir } = error.details as { readonly writtenTaskDir: string };
      const log = { taskDir, dispatchId: null, writtenTaskDir, writtenDispatchId: null };
      const ofTask = dispatchMisplaced(log, `the table dispatches of ${name}`);
      return { taskDir, dispatchId: null, envelope: null, lastActiveAt: null, error: ofTask };
    }
    return { taskDir, dispatchId, envelope: null, lastActiveAt: null, error };
  }
}
