import { randomUUID } from 'node:crypto';
import { StoreError } from '@hansard/provider';
import { currentProcess, describeOwner, isRunning, type ProcessOwner } from '@hansard/provider/process-owner';
import type { Statements } from './database/statements.ts';
import { corrupt } from './sqlite-errors.ts';

/**
 * The claims on dispatches, kept in the database: each dispatch is claimed by one store instance at a time. Looking and
 * taking run inside one transaction of the caller, so that they are one step for all processes.
 */
export class WriterLeases {
  readonly #statements: Statements;
  readonly #file: string;
  readonly #token = randomUUID();
  /** Null until a lease was taken. */
  #owner: string | null = null;

  constructor(statements: Statements, file: string) {
    this.#statements = statements;
    this.#file = file;
  }

  /** @throws STORE_LOCKED where another instance that still runs holds it */
  assertFree(dispatch: number, dispatchId: string): void {
    const writer = this.#statements.getWriter.get(dispatch);
    if (writer === undefined || writer.token === this.#token) return;
    if (isRunning(this.#parseOwner(writer.owner))) throw this.lockedError(dispatch, dispatchId);
  }

  /** Takes the lease, also from an owner that died. @throws STORE_LOCKED */
  take(dispatch: number, dispatchId: string): void {
    this.assertFree(dispatch, dispatchId);
    const owner = this.#owner ?? JSON.stringify(currentProcess());
    this.#statements.putWriter.run(dispatch, this.#token, owner);
    this.#owner = owner;
  }

  holds(dispatch: number): boolean {
    return this.#statements.getWriter.get(dispatch)?.token === this.#token;
  }

  /** @throws STORE_LOCKED where this instance has not claimed the dispatch, naming the owner where there is one */
  assertHeld(dispatch: number, dispatchId: string): void {
    const writer = this.#statements.getWriter.get(dispatch);
    if (writer?.token === this.#token) return;
    const message = `This opening of the store has not claimed dispatch ${dispatchId}; claim it first.`;
    if (writer === undefined || !isRunning(this.#parseOwner(writer.owner)))
      throw new StoreError('STORE_LOCKED', message, { details: { dispatchId } });
    const locked = this.lockedError(dispatch, dispatchId);
    throw new StoreError('STORE_LOCKED', `${message} ${locked.message}`, { details: locked.details });
  }

  /** From then on, fewer events than now mean damage. */
  keepEventCount(dispatch: number): void {
    this.#statements.keepEventCount.run(dispatch);
  }

  release(dispatch: number): void {
    this.keepEventCount(dispatch);
    this.#statements.deleteWriter.run(dispatch);
  }

  /** Gives back what was ever taken. Who only read must not have to wait for others here. */
  releaseAll(): void {
    if (this.#owner === null) return;
    this.#statements.keepEventCountsOf.run(this.#token);
    this.#statements.deleteWritersOf.run(this.#token);
  }

  lockedError(dispatch: number, dispatchId: string): StoreError {
    const writer = this.#statements.getWriter.get(dispatch);
    const owner = writer === undefined ? null : this.#parseOwner(writer.owner);
    const name = owner === null ? 'another process' : describeOwner(owner);
    const file = this.#file;
    const command = `sqlite3 '${file}' "DELETE FROM writers WHERE dispatch = ${dispatch}"`;
    const remedy = owner === null ? '' : ` If that process no longer runs, release the dispatch: ${command}`;
    return new StoreError(
      'STORE_LOCKED',
      `Dispatch ${dispatchId} is being written by ${name}. Write to it there, or wait until that store is closed.${remedy}`,
      { details: { dispatchId, owner, file } },
    );
  }

  #parseOwner(text: string): ProcessOwner {
    try {
      return JSON.parse(text) as ProcessOwner;
    } catch (cause) {
      throw corrupt(this.#file, 'the owner of a dispatch is not JSON', { cause });
    }
  }
}
