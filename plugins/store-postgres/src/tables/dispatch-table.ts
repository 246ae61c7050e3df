import type { DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import { compareByStart } from '@hansard/provider';
import { dispatchExists, placeInTime } from '@hansard/store-kit';
import type { Claims } from '../claims/claims.ts';
import { envelopeChecksum } from '../database/checksums.ts';
import type { BigInt64 } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { decodeEnvelope } from './decode.ts';

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
      if (isRunning) await this.#claims.begin(session);
      const { count } = await session.run(statements.insertDispatch, [
        ...[taskDir, dispatchId, startedAt, status, isRunning ? this.#claims.token : null, isRunning ? 1 : 0],
        ...[envelopeChecksum({ taskDir, dispatchId, startedAt, status, envelope: text }), text],
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

  /** Returns the changed envelope. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  update(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const { statements } = this.#tables;
    return this.#tables.change(taskDir, dispatchId, async (session, row) => {
      this.#claims.assertClaimed(row);
      const changed: Record<string, unknown> = { ...decodeEnvelope(row, this.#tables.name) };
      for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
      const text = JSON.stringify(changed);
      const envelope = JSON.parse(text) as DispatchEnvelope;
      const { status } = envelope;
      const startedAt = placeInTime(envelope);
      const checksum = envelopeChecksum({ taskDir, dispatchId, startedAt, status, envelope: text });
      await session.run(statements.setEnvelope, [row.number, startedAt, status, checksum, text]);
      if (status !== 'running') await session.run(statements.keepLength, [row.number]);
      return envelope;
    });
  }

  /** Removes a dispatch with its events. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  async remove(taskDir: string, dispatchId: string): Promise<BigInt64> {
    const { statements } = this.#tables;
    const since = this.#now();
    return this.#tables.change(taskDir, dispatchId, async (session, row) => {
      this.#claims.assertClaimable(row, since);
      const { number } = row;
      await session.run(statements.deleteWords, [number]);
      await session.run(statements.deleteEvents, [number]);
      await session.run(statements.deleteLosses, [number]);
      await session.run(statements.deleteDispatch, [number]);
      return number;
    });
  }
}
