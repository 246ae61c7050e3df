import { existsSync } from 'node:fs';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type DispatchEnvelope, toTimestamp } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { isBelow } from '../import-source.ts';
import { endIfQuiet, type QuietClock } from '../record/end-of-log.ts';
import { importWriter } from '../record/record-log.ts';
import type { SourceTree } from './source-tree.ts';

interface Session extends DispatchRef {
  /** Where its envelope says that it lies. */
  readonly path: string;
  /** The files that have it, as far as this watcher has seen. */
  readonly paths: Set<string>;
  isGone: boolean;
  /** When it is quiet if nothing follows, in milliseconds since 1970. Null: it has ended. */
  quietAt: number | null;
}

/** The imported sessions of a machine: where they lie, which are gone, and when each is quiet. They are listed once. */
export class WatchedSessions {
  readonly #store: DispatchStore;
  readonly #machine: string;
  readonly #clock: QuietClock;
  #sessions: Map<string, Session> | null = null;

  constructor(store: DispatchStore, machine: string, clock: QuietClock) {
    this.#store = store;
    this.#machine = machine;
    this.#clock = clock;
  }

  async read(): Promise<void> {
    if (this.#sessions !== null) return;
    const sessions = new Map<string, Session>();
    for await (const entry of this.#store.dispatches()) {
      if ('error' in entry) continue;
      const { taskDir, dispatchId, envelope } = entry;
      const { machine, path, gone } = envelope.source ?? {};
      if (machine !== this.#machine || path === undefined) continue;
      const session = { taskDir, dispatchId, path, paths: new Set([path]), isGone: gone !== undefined };
      sessions.set(keyOf(entry), { ...session, quietAt: this.#quietOf(envelope) });
    }
    this.#sessions = sessions;
  }

  /** Notes a session that a file has, as an import has left it. Returns its key. */
  async note(ref: DispatchRef, path: string): Promise<string> {
    const key = keyOf(ref);
    const envelope = await this.#store.getDispatchEnvelope(ref);
    const { taskDir, dispatchId } = ref;
    const quietAt = envelope === null ? null : this.#quietOf(envelope);
    const paths = (this.#sessions?.get(key)?.paths ?? new Set()).add(path);
    this.#sessions?.set(key, { taskDir, dispatchId, path, paths, isGone: false, quietAt });
    return key;
  }

  /** Notes that a file has these sessions and no others. */
  keepOnly(path: string, keys: ReadonlySet<string>): void {
    for (const [key, { paths }] of this.#sessions ?? []) if (!keys.has(key)) paths.delete(path);
  }

  /** Whether no file has a session any more that is not marked. A folder that is away or cannot be read shows nothing. */
  *missing(tree: SourceTree, folders: readonly string[]): Generator<Session, undefined> {
    for (const session of this.#sessions?.values() ?? []) {
      const { path, paths, isGone } = session;
      if (isGone || [...paths].some((one) => tree.stateOf(one) !== undefined)) continue;
      const root = folders.find((folder) => isBelow(path, folder));
      if (root === undefined || !tree.has(root)) continue;
      const isReadable = ![...tree.problems.keys()].some((folder) => isBelow(path, folder));
      if (isReadable && ![...paths].some((one) => existsSync(one))) yield session;
    }
  }

  /** Returns how many were marked. One that another process writes is marked later. */
  async markGone(sessions: Iterable<Session>): Promise<number> {
    let count = 0;
    for (const session of sessions) {
      try {
        await using dispatch = await this.#store.openDispatch(session, { write: true, ...importWriter });
        const { source } = dispatch.envelope;
        const gone = source?.gone ?? toTimestamp(this.#clock.now());
        if (source !== null) await dispatch.update({ source: { ...source, gone } });
        await dispatch.release();
        session.isGone = true;
        count += 1;
      } catch (error) {
        if (!storeErrors.is(error) || storeErrors.is(error, 'STORE_UNAVAILABLE')) throw error;
        if (!storeErrors.is(error, 'STORE_LOCKED')) this.#sessions?.delete(keyOf(session));
      }
    }
    return count;
  }

  /** Ends the sessions that are quiet. Returns when the next one is, in milliseconds since 1970; null: none is open. */
  async endQuiet(): Promise<number | null> {
    let next: number | null = null;
    for (const session of this.#sessions?.values() ?? []) {
      const { quietAt, taskDir } = session;
      if (quietAt === null) continue;
      if (quietAt < this.#clock.now()) {
        session.quietAt = null;
        const envelope = await this.#store.getDispatchEnvelope(session);
        if (envelope !== null) await endIfQuiet(this.#store, taskDir, envelope, this.#clock, importWriter);
      } else next = Math.min(next ?? quietAt, quietAt);
    }
    return next === null ? null : next + 1;
  }

  #quietOf({ status, source }: Pick<DispatchEnvelope, 'status' | 'source'>): number | null {
    const since = status === 'running' ? source?.ifQuiet?.since : undefined;
    return since === undefined ? null : Date.parse(since) + this.#clock.quietAfterMs;
  }
}

const keyOf = ({ taskDir, dispatchId }: DispatchRef): string => `${taskDir} ${dispatchId}`;
