import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from '@anthropic-ai/claude-agent-sdk';
import type { Dispatch, DispatchRef, NewDispatch } from '@hansard/dispatch';
import { type CapturedEvent, createIdSource, definedOnly, type IdSource, toTimestamp } from '@hansard/events';
import {
  type BatchNote,
  batchEvent,
  batchNoteOf,
  entryEvent,
  entryOf,
  type SessionLog,
} from './session-events.ts';
import { nameOf, type TranscriptPlace } from './transcript-place.ts';

export const mainRole = 'claude-session';
export const partRole = 'claude-session-part';

export interface TranscriptWriterOptions {
  readonly log: SessionLog;
  readonly known: KnownTranscripts;
  readonly now: () => number;
  /** Whether the entries are redacted as other events of the store are. */
  readonly redact: boolean;
}

/** Appends to the transcripts of one store. */
export class TranscriptWriter {
  readonly #log: SessionLog;
  readonly #now: () => number;
  readonly #createId: IdSource;
  readonly #known: KnownTranscripts;
  readonly #redact: boolean;

  constructor({ log, known, now, redact }: TranscriptWriterOptions) {
    this.#log = log;
    this.#known = known;
    this.#now = now;
    this.#redact = redact;
    this.#createId = createIdSource({ now });
  }

  /**
   * Appends new entries and their note in one batch. Meanwhile the dispatch is claimed and `running`, so that no other
   * process writes between the read and the write; then it is `completed` and released.
   */
  async append(
    place: TranscriptPlace,
    key: SessionKey,
    entries: readonly SessionStoreEntry[],
  ): Promise<void> {
    const batch = this.#batchOf(entries);
    const dispatch = await this.#begin(place, entries);
    const name = nameOf(place);
    try {
      const known = await this.#catchUp(name, dispatch);
      const fresh = withoutKnown(batch, known.uuids);
      if (fresh.length > 0) await this.#write(dispatch, key, known, fresh);
      this.#known.keep(name, known);
    } catch (error) {
      // The cached content can be wrong: the next append reads it again.
      this.#known.forget(name);
      // If the store still fails, the first error is the one to report.
      await this.#end(dispatch).catch(() => dispatch.abandon());
      throw error;
    }
    await this.#end(dispatch);
  }

  forget(transcript: DispatchRef): void {
    this.#known.forget(nameOf(transcript));
  }

  /** Before anything is written: an entry that can't be stored leaves no trace. */
  #batchOf(entries: readonly SessionStoreEntry[]): EntryEvent[] {
    const now = this.#now();
    return entries.map((entry) => ({ entry, event: entryEvent(entry, this.#createId(), now) }));
  }

  async #begin(place: TranscriptPlace, entries: readonly SessionStoreEntry[]): Promise<Dispatch> {
    const writer = { owner: 'a session store', redact: this.#redact };
    if ((await this.#log.findDispatch(place)) === null) {
      const begun = newDispatch(place, entries, toTimestamp(this.#now()));
      return this.#log.beginDispatch(place.taskDir, begun, writer);
    }
    const dispatch = await this.#log.openDispatch(place, { write: true, ...writer });
    await dispatch.update({ status: 'running' });
    return dispatch;
  }

  /** Reads what was appended since this store looked last: nothing, unless another process wrote. */
  async #catchUp(name: string, dispatch: Dispatch): Promise<KnownTranscript> {
    const { startedAt } = dispatch.envelope;
    const before = this.#known.get(name);
    const known =
      before?.startedAt === startedAt
        ? before
        : { startedAt, position: -1, uuids: new Set<string>(), note: null };
    for await (const { events, next } of dispatch.pages({ after: known.position })) {
      for (const event of events) {
        const entry = entryOf(event);
        if (typeof entry?.uuid === 'string') known.uuids.add(entry.uuid);
        known.note = batchNoteOf(event) ?? known.note;
      }
      known.position = next;
    }
    return known;
  }

  async #write(
    dispatch: Dispatch,
    { projectKey, sessionId, subpath }: SessionKey,
    known: KnownTranscript,
    fresh: readonly EntryEvent[],
  ): Promise<void> {
    const key = { projectKey, sessionId, ...definedOnly({ subpath }) };
    const mtime = Math.max(Math.floor(this.#now()), known.note?.mtime ?? 0);
    const summary =
      dispatch.envelope.parentDispatchId === null ? await foldSummary(known, key, fresh, mtime) : undefined;
    const note = { ...key, mtime, ...definedOnly({ summary }) };
    const events = [...fresh.map(({ event }) => event), batchEvent(note, this.#createId())];
    await dispatch.append(events);
    known.position += events.length;
    known.note = note;
    for (const { entry } of fresh) if (typeof entry.uuid === 'string') known.uuids.add(entry.uuid);
  }

  async #end(dispatch: Dispatch): Promise<void> {
    await dispatch.end({ status: 'completed', completedAt: toTimestamp(this.#now()) });
  }
}

interface EntryEvent {
  readonly entry: SessionStoreEntry;
  readonly event: CapturedEvent;
}

/** Entries without a uuid are new each time; of several with one uuid the first counts. */
function withoutKnown(batch: readonly EntryEvent[], known: ReadonlySet<string>): EntryEvent[] {
  const seen = new Set<string>();
  return batch.filter(({ entry: { uuid } }) => {
    if (typeof uuid !== 'string') return true;
    if (known.has(uuid) || seen.has(uuid)) return false;
    seen.add(uuid);
    return true;
  });
}

/** Loads the SDK at the first use: a program that appends to a session store has it. */
async function foldSummary(
  { note }: KnownTranscript,
  key: SessionKey,
  fresh: readonly EntryEvent[],
  mtime: number,
): Promise<SessionSummaryEntry['data']> {
  const { foldSessionSummary } = await import('@anthropic-ai/claude-agent-sdk');
  const before =
    note?.summary === undefined
      ? undefined
      : { sessionId: key.sessionId, mtime: note.mtime, data: note.summary };
  const entries = fresh.map(({ entry }) => entry);
  return foldSessionSummary(before, key, entries, { mtime }).data;
}

function newDispatch(
  { dispatchId, parentDispatchId }: TranscriptPlace,
  entries: readonly SessionStoreEntry[],
  startedAt: string,
): NewDispatch {
  const cwd = entries.find((entry) => typeof entry.cwd === 'string')?.cwd;
  return {
    dispatchId,
    role: parentDispatchId === null ? mainRole : partRole,
    cwd: typeof cwd === 'string' ? cwd : null,
    startedAt,
    parentDispatchId,
    fidelity: 'full',
  };
}

/** The known content of a transcript, so that the next append does not read it again. */
interface KnownTranscript {
  /** Distinguishes a transcript from a deleted one with the same id. */
  readonly startedAt: string | null;
  /** The position of the last event that was read or written; -1: none. */
  position: number;
  readonly uuids: Set<string>;
  note: BatchNote | null;
}

/** Some 100 bytes each. */
const mostUuids = 200_000;

/** Keeps the content of the transcripts used last, up to a number of uuids. A forgotten transcript is read again when needed. */
export class KnownTranscripts {
  readonly #most: number;
  readonly #transcripts = new Map<string, { readonly known: KnownTranscript; readonly weight: number }>();
  #held = 0;

  constructor(most = mostUuids) {
    this.#most = most;
  }

  get(name: string): KnownTranscript | null {
    return this.#transcripts.get(name)?.known ?? null;
  }

  /** Keeps a transcript as the one used last, and forgets the least recently used ones above the limit. */
  keep(name: string, known: KnownTranscript): void {
    this.forget(name);
    // A transcript without uuids weighs something too.
    const weight = known.uuids.size + 1;
    this.#transcripts.set(name, { known, weight });
    this.#held += weight;
    for (const oldest of this.#transcripts.keys()) {
      if (this.#held <= this.#most || oldest === name) break;
      this.forget(oldest);
    }
  }

  forget(name: string): void {
    this.#held -= this.#transcripts.get(name)?.weight ?? 0;
    this.#transcripts.delete(name);
  }
}
