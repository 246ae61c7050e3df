import { type BegunCall, BrokenPromise, type SimulatedCall, taskDir } from '@hansard/testing/simulation';
import type { Client, QueryConfig } from 'pg';

interface StoredDispatch {
  readonly number: string;
  readonly writer: string | null;
  readonly epoch: number;
  readonly acknowledged: number;
  readonly ids: readonly string[];
}

/** What the tables have. */
export interface Snapshot {
  /** By the id. */
  readonly dispatches: ReadonlyMap<string, StoredDispatch>;
  /** The heartbeats by the token of their opening. */
  readonly beats: ReadonlyMap<string, string>;
}

export const emptySnapshot: Snapshot = { dispatches: new Map(), beats: new Map() };

export async function readSnapshot(client: Client, schema: string): Promise<Snapshot> {
  const { rows } = await client.query<{
    dispatches: [string, StoredDispatch][] | null;
    beats: [string, string][] | null;
  }>({
    name: `snapshot ${schema}`,
    text: `SELECT (SELECT json_agg(json_build_array(dispatch_id, json_build_object('number', number::text, 'writer', writer, 'epoch', epoch,
        'acknowledged', acknowledged, 'ids', (SELECT coalesce(json_agg(id ORDER BY position), '[]') FROM "${schema}".events WHERE dispatch = number))))
      FROM "${schema}".dispatches WHERE task_dir = '${taskDir}' AND dispatch_id ~ '^d') AS dispatches,
      (SELECT json_agg(json_build_array(token, beat::text)) FROM "${schema}".openings) AS beats`,
  });
  const [row] = rows;
  return { dispatches: new Map(row?.dispatches), beats: new Map(row?.beats) };
}

const claiming: readonly SimulatedCall['kind'][] = ['create', 'claim', 'rewrite', 'accept loss', 'delete'];

/**
 * Judges what the server has committed, with SQL that shares nothing with the store: events are only added, by the opening with the claim, or
 * replaced by a rewrite; only a call that claims begins a claim; a claim passes from an opening that ran only after a whole lease without a heartbeat, or where it was broken.
 */
export class TableOracle {
  readonly #leaseMs: number;
  /** The process of each opening. */
  readonly #processes = new Map<string, string>();
  readonly #beatAt = new Map<string, number>();
  /** The heartbeats that came too late, by their opening: a claim that had begun before may not have seen them. */
  readonly #late = new Map<string, number>();
  readonly #beganAt = new WeakMap<BegunCall, number>();
  #latest: Snapshot = emptySnapshot;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  get latest(): Snapshot {
    return this.#latest;
  }

  /** Learns from a heartbeat which process an opening belongs to. */
  note(process: string, { text, values }: QueryConfig): void {
    const [token] = values ?? [];
    if (/INTO \S+openings /.test(text) && typeof token === 'string') this.#processes.set(token, process);
  }

  /** A heartbeat counts from when its statement ran, whatever it wrote. */
  ran({ text, values }: QueryConfig, now: number): void {
    const [token] = values ?? [];
    if (/INTO \S+openings /.test(text) && typeof token === 'string') this.#beatAt.set(token, now);
  }

  begin(call: BegunCall, now: number): void {
    this.#beganAt.set(call, now);
  }

  isOf(writer: string | null, process: string): boolean {
    return writer !== null && this.#processes.get(writer) === process;
  }

  /** `calls`: those that ran since the last look. @returns how many claims passed from an opening that had not ended them */
  observe(calls: readonly BegunCall[], snapshot: Snapshot, now: number): number {
    for (const [token, beat] of snapshot.beats)
      if (this.#latest.beats.get(token) !== beat) {
        if (now - (this.#beatAt.get(token) ?? now) >= this.#leaseMs) this.#late.set(token, now);
        this.#beatAt.set(token, now);
      }
    let takeovers = 0;
    for (const [id, { writer }] of snapshot.dispatches) {
      if (writer === null || writer === this.#latest.dispatches.get(id)?.writer) continue;
      const isClaimed = calls.some(
        ({ token, call }) =>
          this.isOf(writer, token) &&
          claiming.includes(call.kind) &&
          'dispatch' in call &&
          `d${call.dispatch}` === id,
      );
      if (!isClaimed) throw new BrokenPromise(`${id} was claimed by no call that claims`);
    }
    for (const [id, old] of this.#latest.dispatches) {
      const changed = snapshot.dispatches.get(id);
      const by = (...kinds: SimulatedCall['kind'][]) =>
        calls.some(
          ({ call }) => kinds.includes(call.kind) && 'dispatch' in call && `d${call.dispatch}` === id,
        );
      if (changed?.number !== old.number) {
        if (!by('rewrite', 'accept loss', 'delete'))
          throw new BrokenPromise(`${id} was replaced by no rewrite`);
      } else this.#judgeSame(id, old, changed, calls);
      if (changed !== undefined && changed.epoch < old.epoch && !by('delete', 'create'))
        throw new BrokenPromise(`the epoch of ${id} went back from ${old.epoch} to ${changed.epoch}`);
      if (this.#isTakeover(id, old, changed, calls, now)) takeovers += 1;
    }
    this.#latest = snapshot;
    return takeovers;
  }

  #judgeSame(id: string, old: StoredDispatch, changed: StoredDispatch, calls: readonly BegunCall[]): void {
    if (changed.ids.length === old.ids.length) return;
    if (old.ids.some((event, at) => changed.ids[at] !== event))
      throw new BrokenPromise(`${id} has lost or moved events`);
    const isWriter = [old.writer, changed.writer].some((writer) =>
      calls.some(({ token }) => this.isOf(writer, token)),
    );
    const added = changed.ids.slice(old.ids.length);
    const isWhole = calls.some(({ call }) => {
      if (call.kind === 'take letters') return added.length === 1;
      const given = call.kind === 'conflict' ? [call.id] : 'ids' in call ? call.ids : [];
      return given.filter((event) => !old.ids.includes(event)).join() === added.join();
    });
    if (!isWhole) throw new BrokenPromise(`${added} were added to ${id} by no whole call`);
    if (!isWriter)
      throw new BrokenPromise(`${changed.ids.slice(old.ids.length)} were added to ${id} without its claim`);
  }

  #isTakeover(
    id: string,
    old: StoredDispatch,
    changed: StoredDispatch | undefined,
    calls: readonly BegunCall[],
    now: number,
  ): boolean {
    if (old.writer === null || (changed?.number === old.number && changed.writer === old.writer))
      return false;
    const owner = this.#processes.get(old.writer);
    // By its owner, or by somebody who breaks it.
    const ends = ['release', 'rewrite', 'delete', 'accept loss', 'close', 'break claim'];
    const isAllowed = calls.some(
      ({ token, call }) =>
        (call.kind === 'break claim' || (token === owner && ends.includes(call.kind))) &&
        (!('dispatch' in call) || `d${call.dispatch}` === id),
    );
    if (isAllowed) return false;
    const idle = now - (this.#beatAt.get(old.writer) ?? 0);
    const late = this.#late.get(old.writer) ?? -Infinity;
    if (idle >= this.#leaseMs || calls.some((call) => (this.#beganAt.get(call) ?? Infinity) <= late))
      return true;
    throw new BrokenPromise(`the claim of ${id} ended ${idle} ms after a heartbeat of ${owner}`);
  }
}
