import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from '@anthropic-ai/claude-agent-sdk';
import {
  type CapturedEvent,
  createIdSource,
  definedOnly,
  envelopeSchemaVersion,
  type IdSource,
  toTimestamp,
} from '@hansard/events';
import type { DispatchEnvelope } from '@hansard/provider';
import type { KnownTranscript, KnownTranscripts } from './known-transcripts.ts';
import { batchEvent, batchNoteOf, entryEvent, entryOf } from './session-events.ts';
import type { SessionLog } from './session-log.ts';
import type { DispatchName, TranscriptPlace } from './transcript-place.ts';
import { readForward } from './transcript-reader.ts';

export const mainRole = 'claude-session';
export const partRole = 'claude-session-part';

/** Appends to the transcripts of one store. */
export class TranscriptWriter {
  readonly #log: SessionLog;
  readonly #now: () => number;
  readonly #createId: IdSource;
  readonly #known: KnownTranscripts;

  constructor(log: SessionLog, known: KnownTranscripts, now: () => number) {
    this.#log = log;
    this.#known = known;
    this.#now = now;
    this.#createId = createIdSource({ now });
  }

  /**
   * Appends what is new, in one piece with its note. While it looks and writes, the dispatch is `running`, so that no
   * other process writes between the two; then it is `completed` and free for the next one.
   */
  async append(
    place: TranscriptPlace,
    key: SessionKey,
    entries: readonly SessionStoreEntry[],
  ): Promise<void> {
    const batch = this.#batchOf(entries);
    const envelope = await this.#begin(place, entries);
    const name = nameOf(place);
    try {
      const known = await this.#catchUp(place, envelope);
      const fresh = withoutKnown(batch, known.uuids);
      if (fresh.length > 0) await this.#write(place, key, known, fresh);
      this.#known.keep(name, known);
    } catch (error) {
      // What is known may be what is wrong: the next append reads it again.
      this.#known.forget(name);
      await this.#end(place).catch(() => {
        // The store fails still. The error to tell is the first one.
      });
      throw error;
    }
    await this.#end(place);
  }

  forget(name: DispatchName): void {
    this.#known.forget(nameOf(name));
  }

  /** Before anything is written: an entry that can't be stored leaves no trace. */
  #batchOf(entries: readonly SessionStoreEntry[]): EntryEvent[] {
    const now = this.#now();
    return entries.map((entry) => ({ entry, event: entryEvent(entry, this.#createId(), now) }));
  }

  async #begin(place: TranscriptPlace, entries: readonly SessionStoreEntry[]): Promise<DispatchEnvelope> {
    const { taskDir, dispatchId } = place;
    const there = await this.#log.getDispatchEnvelope(taskDir, dispatchId);
    if (there !== null) {
      await this.#log.updateDispatch(taskDir, dispatchId, { status: 'running' });
      return there;
    }
    const envelope = newEnvelope(place, entries, toTimestamp(this.#now()));
    await this.#log.createDispatch(taskDir, envelope);
    return envelope;
  }

  /** Reads what was appended since this store looked last: nothing, unless another process wrote. */
  async #catchUp(place: TranscriptPlace, { startedAt }: DispatchEnvelope): Promise<KnownTranscript> {
    const before = this.#known.get(nameOf(place));
    const known =
      before?.startedAt === startedAt
        ? before
        : { startedAt, position: -1, uuids: new Set<string>(), note: null };
    for await (const { events, next } of readForward(this.#log, place, known.position)) {
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
    { taskDir, dispatchId, parentDispatchId }: TranscriptPlace,
    { projectKey, sessionId, subpath }: SessionKey,
    known: KnownTranscript,
    fresh: readonly EntryEvent[],
  ): Promise<void> {
    const key = { projectKey, sessionId, ...definedOnly({ subpath }) };
    const mtime = Math.max(Math.floor(this.#now()), known.note?.mtime ?? 0);
    const summary = parentDispatchId === null ? await foldSummary(known, key, fresh, mtime) : undefined;
    const note = { ...key, mtime, ...definedOnly({ summary }) };
    const events = [...fresh.map(({ event }) => event), batchEvent(note, this.#createId())];
    await this.#log.appendEvents(taskDir, dispatchId, events);
    known.position += events.length;
    known.note = note;
    for (const { entry } of fresh) if (typeof entry.uuid === 'string') known.uuids.add(entry.uuid);
  }

  async #end({ taskDir, dispatchId }: TranscriptPlace): Promise<void> {
    const completedAt = toTimestamp(this.#now());
    await this.#log.updateDispatch(taskDir, dispatchId, { status: 'completed', completedAt });
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

/** The SDK is loaded when it is needed first: who appends to a session store has it. */
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

function newEnvelope(
  { taskDir, dispatchId, parentDispatchId }: TranscriptPlace,
  entries: readonly SessionStoreEntry[],
  startedAt: string,
): DispatchEnvelope {
  const cwd = entries.find((entry) => typeof entry.cwd === 'string')?.cwd;
  return {
    dispatchId,
    taskSlug: taskDir.slice(taskDir.lastIndexOf('/') + 1),
    role: parentDispatchId === null ? mainRole : partRole,
    model: null,
    cwd: typeof cwd === 'string' ? cwd : null,
    startedAt,
    completedAt: null,
    status: 'running',
    cost: null,
    usage: null,
    structuredResult: null,
    parentDispatchId,
    botId: null,
    fidelity: 'full',
    schemaVersion: envelopeSchemaVersion,
  };
}

function nameOf({ taskDir, dispatchId }: DispatchName): string {
  return `${taskDir}\n${dispatchId}`;
}
