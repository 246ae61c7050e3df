import type { CapturedEvent } from '@hansard/events';
import { type StoreError, storeErrors } from '@hansard/provider';
import {
  chainStart,
  eventChecksum,
  eventConflict,
  hasSameContent,
  KeyedQueue,
  linesById,
  writtenName,
} from '@hansard/store-kit';
import type { Claims } from '../claims.ts';
import { assertNamed } from '../dispatch-row.ts';
import { isLostConnection, unavailable } from '../server/redis-errors.ts';
import { scripts } from '../server/scripts.ts';
import type { Reply, Server } from '../server/server.ts';
import type { EventReader } from './event-reader.ts';

/** What is known of a claimed dispatch between appends. */
interface OpenDispatch {
  readonly number: string;
  readonly epoch: number;
  length: number;
  /** The checksum of the last event; '' without events. */
  tail: string;
}

interface Target {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly name: string;
}

/** An append is tried so often after the dispatch changed under it. Each time the facts are read again. */
const mostTries = 4;

/** Bytes. One command holds an append, and a server ends a connection with a command of 1 GB. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Appends events. Appends of one dispatch run one after the other, so that no reader sees an event before the one that precedes it.
 *
 * For each claimed dispatch the writer knows the number of events and the last checksum, so an append is one script. The script writes nothing
 * unless the claim exists, with its epoch, and the last stored event is the one that the writer knows.
 *
 * 1. All events were written: they are acknowledged.
 * 2. None were, because the dispatch changed: read the facts again. With less than this opening has written, STORE_CORRUPT: a failover has
 *    lost it, and an append would leave a hole. Without the claim, STORE_LOCKED. Otherwise try again.
 * 3. None were, because an id exists: skip the equal events (rule 3), and try again with the others.
 * 4. The connection was lost, so the outcome is unknown: read the facts again, and do step 3 once.
 */
export class EventWriter {
  readonly #server: Server;
  readonly #claims: Claims;
  readonly #reader: EventReader;
  readonly #queue = new KeyedQueue();
  readonly #open = new Map<string, OpenDispatch>();

  constructor(server: Server, claims: Claims, reader: EventReader) {
    this.#server = server;
    this.#claims = claims;
    this.#reader = reader;
  }

  /** @returns the position of each event @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_EVENT_CONFLICT, STORE_CORRUPT, STORE_TOO_LARGE */
  append(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): Promise<number[]> {
    const target = { taskDir, dispatchId, name: writtenName(taskDir, dispatchId) };
    // The caller may change its events after this call.
    const lines = linesById(events);
    const ids = events.map(({ id }) => id);
    const times = new Map(events.map(({ id, timestamp }) => [id, timestamp ?? '']));
    return this.inOrder(taskDir, dispatchId, async () => {
      const positions = await this.#append(target, lines, times);
      return ids.map((id) => positions.get(id) as number);
    });
  }

  /** Runs work on the dispatch between its appends. */
  inOrder<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(writtenName(taskDir, dispatchId), work);
  }

  /** As `inOrder`, for work that changes the claim or the number of the dispatch. The next append reads the facts again. */
  exclusively<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.inOrder(taskDir, dispatchId, async () => {
      this.#open.delete(writtenName(taskDir, dispatchId));
      return work();
    });
  }

  /** @returns the positions by id */
  async #append(
    target: Target,
    given: ReadonlyMap<string, string> | string,
    times: ReadonlyMap<string, string>,
  ): Promise<ReadonlyMap<string, number>> {
    if (typeof given === 'string') {
      await this.#read(target);
      throw eventConflict(given);
    }
    let lines = given;
    const positions = new Map<string, number>();
    let isLost = false;
    if (lines.size === 0) await this.#read(target);
    for (let tries = 1; lines.size > 0; tries += 1) {
      let dispatch = this.#open.get(target.name) ?? (await this.#read(target));
      let answer = 'lost';
      try {
        answer = await this.#insert(target, dispatch, lines, times);
      } catch (error) {
        this.#open.delete(target.name);
        if (isLost || !isLostConnection(error)) throw error;
        isLost = true;
      }
      if (answer === 'ok') {
        let next = dispatch.length - lines.size;
        for (const id of lines.keys()) positions.set(id, next++);
        return positions;
      }
      if (tries === mostTries) throw this.#changing(target);
      if (answer !== 'exists') dispatch = await this.#read(target);
      if (answer !== 'changed') lines = await this.#withoutStored(dispatch, lines, positions);
    }
    return positions;
  }

  /** Reads the facts of a dispatch, and checks the claim. */
  async #read({ taskDir, dispatchId, name }: Target): Promise<OpenDispatch> {
    this.#open.delete(name);
    const row = await this.#reader.row(taskDir, dispatchId);
    assertNamed(row, this.#server.name);
    const lost = this.#reader.lost(row);
    if (lost !== null) throw lost;
    if (!this.#claims.has(row)) throw this.#claims.notClaimed(row);
    // The chain starts from an event that was checked, so that an append never continues a damaged one.
    await this.#reader.page(taskDir, dispatchId, { last: 1 });
    const { number, epoch, length, tail } = row;
    const dispatch = { number, epoch, length, tail };
    this.#open.set(name, dispatch);
    return dispatch;
  }

  /** @returns `ok`, or why nothing was written: `changed`, or `exists` */
  async #insert(
    target: Target,
    dispatch: OpenDispatch,
    lines: ReadonlyMap<string, string>,
    times: ReadonlyMap<string, string>,
  ): Promise<string> {
    const { number, epoch, length, tail } = dispatch;
    let checksum = length === 0 ? chainStart(target.taskDir, target.dispatchId) : Number(tail);
    let bytes = 0;
    let last = '';
    const entries: string[] = [];
    for (const [id, line] of lines) {
      checksum = eventChecksum(checksum, line);
      entries.push(String(checksum), id, line);
      bytes += Buffer.byteLength(line);
      last = id;
    }
    if (bytes > mostBytes) throw tooLarge(this.#server.name, bytes);
    const facts = [number, String(epoch), String(length), tail, times.get(last) ?? ''];
    const args = [this.#claims.token, target.name, ...facts, ...entries];
    const [answer] = (await this.#server.run(scripts.append, args)) as [string];
    if (answer !== 'ok') return answer;
    dispatch.length += lines.size;
    dispatch.tail = String(checksum);
    this.#reader.acknowledge(target, dispatch);
    return answer;
  }

  /** Adds the positions of the stored events to `positions`. @throws STORE_EVENT_CONFLICT */
  async #withoutStored(
    { number }: OpenDispatch,
    lines: ReadonlyMap<string, string>,
    positions: Map<string, number>,
  ): Promise<ReadonlyMap<string, string>> {
    const ids = [...lines.keys()];
    const found = (await this.#server.repeatable(scripts.find, [number, ...ids])) as readonly Reply[];
    const rest = new Map(lines);
    for (const [at, id] of ids.entries()) {
      const stored = found[at] as readonly string[] | null | undefined;
      if (stored === null || stored === undefined) continue;
      const [position = '', line = ''] = stored;
      if (!isEqual(line, lines.get(id) ?? '')) throw eventConflict(id);
      positions.set(id, Number(position));
      rest.delete(id);
    }
    return rest;
  }

  #changing({ taskDir, dispatchId }: Target): StoreError {
    const what = `changed dispatch ${dispatchId} of ${taskDir} during every try to append to it. Try again`;
    return unavailable(this.#server.name, what, true);
  }
}

/** A stored line that is damaged is not equal. */
function isEqual(stored: string, line: string): boolean {
  try {
    return hasSameContent(stored, line);
  } catch {
    return false;
  }
}

function tooLarge(name: string, bytes: number): StoreError {
  return storeErrors.error(
    'STORE_TOO_LARGE',
    `The Redis server ${name} takes at most ${mostBytes} bytes in one append, and these events have ${bytes}. Append them in several calls.`,
    { details: { server: name } },
  );
}
