import type { CapturedEvent } from '@hansard/events';
import { type StoreError, storeErrors } from '@hansard/provider';
import {
  chainStart,
  dispatchNotFound,
  eventChecksum,
  eventConflict,
  hasSameContent,
  KeyedQueue,
  linesById,
} from '@hansard/store-kit';
import type { Claims } from '../claims.ts';
import type { Session } from '../database/database.ts';
import { isLostConnection, isUniqueViolation } from '../database/postgres-errors.ts';
import type { BigInt64 } from '../database/statements.ts';
import type { Tables } from '../database/tables.ts';
import { type EventReader, leastOf, lostTail } from './event-reader.ts';

/** What is known of a claimed dispatch between appends. */
interface OpenDispatch {
  readonly number: BigInt64;
  readonly epoch: BigInt64;
  length: number;
  /** The checksum of the last event, or the start of the chain. */
  checksum: number;
}

interface Target {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly key: string;
}

/** The greatest number of characters in one statement. A larger batch is several statements of one transaction. */
const statementCharacters = 8_000_000;

/** An append is tried so often after the dispatch changed under it. Each time the facts are read again. */
const mostTries = 4;

/**
 * Appends events. Appends of one dispatch run one after the other, so that no reader sees an event before the one that precedes it.
 *
 * For each claimed dispatch the writer knows the number of events and the last checksum, so an append is one statement. The statement
 * inserts nothing unless the claim exists, with its epoch, and the last stored event is the one that the writer knows.
 *
 * 1. All rows were inserted: they are acknowledged.
 * 2. None were: read the facts again. Without the claim, STORE_LOCKED. With fewer events than were acknowledged, STORE_CORRUPT: a
 *    failover has lost them, and an append would leave a hole. Otherwise try again.
 * 3. An id or the position exists: read the facts again, skip the equal events (rule 3), and try again with the others.
 * 4. The connection was lost, so the outcome is unknown: do step 3 once.
 */
export class EventWriter {
  readonly #tables: Tables;
  readonly #claims: Claims;
  readonly #reader: EventReader;
  readonly #queue = new KeyedQueue();
  readonly #open = new Map<string, OpenDispatch>();

  constructor(tables: Tables, claims: Claims, reader: EventReader) {
    this.#tables = tables;
    this.#claims = claims;
    this.#reader = reader;
  }

  /** @returns the position of each event @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_EVENT_CONFLICT, STORE_CORRUPT */
  append(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): Promise<number[]> {
    const target = { taskDir, dispatchId, key: `${taskDir}\n${dispatchId}` };
    // The caller may change its events after this call.
    const lines = linesById(events);
    const ids = events.map(({ id }) => id);
    return this.#queue.run(target.key, async () => {
      const positions = await this.#append(target, lines);
      return ids.map((id) => positions.get(id) as number);
    });
  }

  /** Runs work on the dispatch between its appends. */
  inOrder<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(`${taskDir}\n${dispatchId}`, work);
  }

  /** As `inOrder`, for work that changes the claim or the number of the dispatch. The next append reads the facts again. */
  exclusively<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.inOrder(taskDir, dispatchId, async () => {
      this.#open.delete(`${taskDir}\n${dispatchId}`);
      return work();
    });
  }

  /** @returns the positions by id */
  async #append(
    target: Target,
    given: ReadonlyMap<string, string> | string,
  ): Promise<ReadonlyMap<string, number>> {
    if (typeof given === 'string') {
      await this.#read(target);
      throw eventConflict(given);
    }
    let lines = given;
    const positions = new Map<string, number>();
    let isLost = false;
    if (lines.size === 0) this.#open.set(target.key, await this.#read(target));
    for (let tries = 1; lines.size > 0; tries += 1) {
      const dispatch = this.#open.get(target.key) ?? (await this.#read(target));
      try {
        let next = dispatch.length;
        if (await this.#insert(target, dispatch, lines)) {
          for (const id of lines.keys()) positions.set(id, next++);
          return positions;
        }
      } catch (error) {
        this.#open.delete(target.key);
        const isUnknown: boolean = isLostConnection(error) && !isLost;
        isLost ||= isUnknown;
        if (!isUnknown && !isUniqueViolation(error)) throw error;
      }
      const found = await this.#read(target);
      if (tries === mostTries) throw this.#changing(target);
      lines = await this.#withoutStored(found, lines, positions);
    }
    return positions;
  }

  /** Reads the facts of a dispatch, and checks the claim. */
  async #read({ taskDir, dispatchId, key }: Target): Promise<OpenDispatch> {
    this.#open.delete(key);
    const known = this.#reader.known(taskDir, dispatchId);
    const [head] = await this.#tables.rows(this.#tables.statements.getHead, [taskDir, dispatchId]);
    if (head === undefined) throw dispatchNotFound(taskDir, dispatchId);
    if (head.writer !== this.#claims.token) throw await this.#claims.refused(taskDir, dispatchId);
    const { number, epoch, length } = head;
    const least = leastOf(head, known);
    if (length < least) throw lostTail(this.#tables.name, { taskDir, dispatchId }, least, length);
    // The chain starts from a row that was checked, so that an append never continues a damaged one.
    await this.#reader.page(taskDir, dispatchId, { last: 1 });
    const dispatch = {
      number,
      epoch,
      length,
      checksum: head.checksum ?? chainStart(taskDir, dispatchId) | 0,
    };
    this.#open.set(key, dispatch);
    return dispatch;
  }

  /** @returns false if nothing was inserted */
  async #insert(
    target: Target,
    dispatch: OpenDispatch,
    lines: ReadonlyMap<string, string>,
  ): Promise<boolean> {
    const parts = partsOf(dispatch, lines);
    const [first] = parts;
    const run = async (session: Pick<Session, 'run'>, part: Part) => {
      const { number, epoch } = dispatch;
      const count = await this.#tables.append(session, [
        ...[
          number,
          epoch,
          part.position,
          part.lines.join('\n'),
          part.ids.join(','),
          part.checksums.join(','),
        ],
        ...[this.#claims.token, this.#tables.commit, part.previous],
      ]);
      if (count !== part.ids.length) throw new NothingInserted();
    };
    try {
      if (parts.length === 1 && first !== undefined) {
        await run({ run: (...of) => this.#tables.database.runOnce(...of) }, first);
      } else {
        await this.#tables.transaction(async (session) => {
          for (const part of parts) await run(session, part);
        });
      }
    } catch (error) {
      if (error instanceof NothingInserted) return false;
      throw error;
    }
    const last = parts.at(-1);
    dispatch.length += lines.size;
    dispatch.checksum = last?.checksums.at(-1) ?? dispatch.checksum;
    this.#reader.acknowledge(target.taskDir, target.dispatchId, dispatch);
    return true;
  }

  #changing({ taskDir, dispatchId }: Target): StoreError {
    return storeErrors.error(
      'STORE_UNAVAILABLE',
      `Dispatch ${dispatchId} of ${taskDir} in ${this.#tables.name} changed during every try to append to it. Try again.`,
      { isTransient: true, details: { database: this.#tables.name } },
    );
  }

  /** Adds the positions of the stored events to `positions`. @throws STORE_EVENT_CONFLICT */
  async #withoutStored(
    { number }: OpenDispatch,
    lines: ReadonlyMap<string, string>,
    positions: Map<string, number>,
  ): Promise<ReadonlyMap<string, string>> {
    const values = [number, [...lines.keys()].join(',')];
    const rest = new Map(lines);
    for (const { id, line, position } of await this.#tables.rows(
      this.#tables.statements.findEvents,
      values,
    )) {
      const given = lines.get(id);
      if (given !== undefined && !hasSameContent(line, given)) throw eventConflict(id);
      if (given !== undefined) positions.set(id, position);
      rest.delete(id);
    }
    return rest;
  }
}

/** The statement inserted nothing, because the claim or the last event is not the known one. Rolls a transaction back. */
class NothingInserted extends Error {
  readonly code = '00000';
}

interface Part {
  readonly position: number;
  /** The checksum of the event before it. */
  readonly previous: number;
  readonly ids: string[];
  readonly lines: string[];
  readonly checksums: number[];
}

/** The rows of each statement. */
function partsOf({ length, checksum }: OpenDispatch, lines: ReadonlyMap<string, string>): readonly Part[] {
  const parts: Part[] = [];
  let previous = checksum;
  let position = length;
  let characters = Number.POSITIVE_INFINITY;
  for (const [id, line] of lines) {
    if (characters + line.length > statementCharacters) {
      parts.push({ position, previous, ids: [], lines: [], checksums: [] });
      characters = 0;
    }
    const part = parts.at(-1);
    previous = eventChecksum(previous, line);
    part?.ids.push(id);
    part?.lines.push(line);
    part?.checksums.push(previous);
    characters += line.length;
    position += 1;
  }
  return parts;
}
