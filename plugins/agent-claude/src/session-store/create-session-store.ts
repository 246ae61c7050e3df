import type { SessionKey, SessionStore, SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import type { DispatchLog, DispatchRef, DispatchStore, ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/provider';
import { assertEntries, type BatchNote, batchNoteOf, entryOf, type SessionLog } from './session-events.ts';
import {
  defaultTaskDir,
  nameOf,
  sessionOf,
  type TranscriptPlace,
  transcriptPlace,
} from './transcript-place.ts';
import { KnownTranscripts, mainRole, partRole, TranscriptWriter } from './transcript-writer.ts';

export interface SessionStoreOptions {
  /** The open Hansard store for the sessions. The caller closes it. */
  readonly store: SessionLog;
  /**
   * The task of the sessions' dispatches, or a function from `projectKey` to it. Name the task of a captured dispatch to
   * have both in one place. Absent: one task for each project, below `claude-sessions`.
   */
  readonly taskDir?: string | ((projectKey: string) => string);
  /**
   * Whether the store redacts the entries, if it redacts at all. A session that is resumed then differs from the one that was
   * recorded: the engine reads markers in place of secrets. Absent: false, and the entries stay as they are.
   */
  readonly redact?: boolean;
  /** The clock of `mtime`, in milliseconds since 1970. Absent: the system clock. */
  readonly now?: () => number;
}

/**
 * A `SessionStore` of the Claude Agent SDK on a Hansard store. A session is a dispatch, and each of its entries one event
 * with the unchanged entry; a part of a session (`subpath`: the transcript of a sub-agent) is a child dispatch.
 *
 * An entry whose `uuid` is already in the transcript adds nothing, whichever process stored it; the other entries of its
 * batch are stored all or none. Entries without a `uuid` are stored each time. Appends to one session keep the
 * order of their calls. `delete` of a session deletes its parts first.
 *
 * Every method rejects with the STORE_ codes of the store; `append` also with EVENT_NOT_JSON, and with STORE_LOCKED
 * while another process appends to the session (the SDK tries again); `delete` with STORE_UNSUPPORTED if the store
 * can't delete. An empty `subpath` is a TypeError.
 */
export function createSessionStore(options: SessionStoreOptions): Required<SessionStore> {
  return new DispatchSessionStore(options);
}

class DispatchSessionStore implements Required<SessionStore> {
  readonly #log: SessionLog;
  readonly #taskDirOf: (projectKey: string) => string;
  readonly #writer: TranscriptWriter;
  readonly #turns: Turns;

  constructor({ store, taskDir = defaultTaskDir, redact = false, now = Date.now }: SessionStoreOptions) {
    this.#log = store;
    this.#taskDirOf = typeof taskDir === 'string' ? () => taskDir : taskDir;
    const { known, turns } = sharedOn(store);
    this.#writer = new TranscriptWriter({ log: store, known, now, redact });
    if (redact)
      process.emitWarning(
        'The entries of this session store are redacted: a resumed session reads markers in place of secrets, and may differ.',
        { code: 'HANSARD_REDACTED_SESSIONS' },
      );
    this.#turns = turns;
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const place = this.#placeOf(key);
    assertEntries(entries);
    if (entries.length === 0) return;
    await this.#inTurn(place, () => this.#writer.append(place, key, entries));
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    return readEntries(this.#log, this.#placeOf(key));
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const notes = await this.#sessionsOf(projectKey);
    return notes.map(({ sessionId, mtime }) => ({ sessionId, mtime }));
  }

  async listSessionSummaries(
    projectKey: string,
  ): Promise<{ sessionId: string; mtime: number; data: Record<string, unknown> }[]> {
    const notes = await this.#sessionsOf(projectKey);
    return notes.map(({ sessionId, mtime, summary = {} }) => ({ sessionId, mtime, data: summary }));
  }

  async delete(key: SessionKey): Promise<void> {
    const place = this.#placeOf(key);
    await this.#inTurn(place, async () => {
      // The session is deleted last, so that an interrupted deletion can be repeated.
      const parts = key.subpath === undefined ? await this.#partsOf(place) : [];
      for (const transcript of [...parts, place]) {
        this.#writer.forget(transcript);
        if ((await this.#log.findDispatch(transcript)) !== null) await this.#log.deleteDispatch(transcript);
      }
    });
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const { projectKey, sessionId } = key;
    const place = this.#placeOf({ projectKey, sessionId });
    const notes = await this.#notesOf(await this.#partsOf(place));
    return notes.flatMap(({ subpath }) => subpath ?? []);
  }

  #placeOf(key: SessionKey): TranscriptPlace {
    return transcriptPlace(key, this.#taskDirOf);
  }

  async #sessionsOf(projectKey: string): Promise<BatchNote[]> {
    const taskDir = this.#taskDirOf(projectKey);
    const notes = await this.#notesOf(await this.#transcriptsOf(taskDir, ({ role }) => role === mainRole));
    return notes.filter((note) => note.projectKey === projectKey);
  }

  #partsOf(session: TranscriptPlace): Promise<DispatchRef[]> {
    return this.#transcriptsOf(
      session.taskDir,
      ({ role, parentDispatchId }) => role === partRole && parentDispatchId === session.dispatchId,
    );
  }

  async #transcriptsOf(
    taskDir: string,
    isWanted: (envelope: DispatchEnvelope) => boolean,
  ): Promise<DispatchRef[]> {
    const envelopes = await this.#log.getDispatchEnvelopes(taskDir);
    return envelopes.filter(isWanted).map((envelope) => ({ taskDir, dispatchId: envelope.dispatchId }));
  }

  /** The notes of transcripts. A transcript has none if its process exited before it wrote an entry. */
  async #notesOf(transcripts: readonly DispatchRef[]): Promise<BatchNote[]> {
    const notes: BatchNote[] = [];
    for (const transcript of transcripts) {
      const note = await readNote(await this.#log.openDispatch(transcript));
      if (note !== null) notes.push(note);
    }
    return notes;
  }

  /** A session and its parts share one queue, so that nothing is written during their deletion. */
  #inTurn<T>(place: TranscriptPlace, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(nameOf(sessionOf(place)), work);
  }
}

interface Shared {
  readonly known: KnownTranscripts;
  readonly turns: Turns;
}

/** Session stores on one store object share their queues and their cached transcripts. */
const sharedByStore = new WeakMap<SessionLog, Shared>();

function sharedOn(store: SessionLog): Shared {
  const shared = sharedByStore.get(store) ?? { known: new KnownTranscripts(), turns: new Turns() };
  sharedByStore.set(store, shared);
  return shared;
}

/** Runs work under one name sequentially, in the order of the calls. Other names do not wait. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(work);
    // The next work waits for the end only. The caller receives the result or the error.
    const over = result.then(
      () => {},
      () => {},
    );
    this.#last.set(name, over);
    void over.then(() => {
      if (this.#last.get(name) === over) this.#last.delete(name);
    });
    return result;
  }
}

/** Every entry of a transcript in order; null for a transcript without entries. */
async function readEntries(
  store: Pick<SessionLog, 'findDispatch'>,
  transcript: DispatchRef,
): Promise<SessionStoreEntry[] | null> {
  const log = await store.findDispatch(transcript);
  if (log === null) return null;
  const entries: SessionStoreEntry[] = [];
  for await (const { event } of log.events()) {
    const entry = entryOf(event);
    if (entry !== null) entries.push(entry);
  }
  return entries.length === 0 ? null : entries;
}

/**
 * The note of the last batch of a transcript; null if there is none. The note is the last event, unless another program
 * appended to the dispatch. Each attempt looks back twice as far as the one before.
 */
async function readNote(log: DispatchLog): Promise<BatchNote | null> {
  for (let count = 1; ; count *= 2) {
    const { events } = await log.last(count);
    for (const event of events.toReversed()) {
      const note = batchNoteOf(event);
      if (note !== null) return note;
    }
    if (events.length < count) return null;
  }
}

/** The sessions of one project key that were mirrored into a store. */
export interface MirroredSessions {
  readonly projectKey: string;
  readonly sessionIds: readonly string[];
  /** Those among them that a run in the same task has captured: its dispatch has their messages already. */
  readonly captured: readonly string[];
  /** Reads them, in whatever task of the store they are. */
  readonly source: Pick<Required<SessionStore>, 'load' | 'listSessions' | 'listSubkeys'>;
}

/** Finds the sessions that the Agent SDK has mirrored into a store, by their project keys. @throws the STORE_ codes of the store */
export async function mirroredSessions(
  store: Pick<DispatchStore, 'dispatches' | 'findDispatch'>,
): Promise<MirroredSessions[]> {
  const found = new Map<string, Transcript[]>();
  const others = new Map<string, ListedDispatch[]>();
  for await (const entry of store.dispatches()) {
    if ('error' in entry) continue;
    const { role, source } = entry.envelope;
    const note = role === mainRole || role === partRole ? await readNote(entry.log) : null;
    if (note !== null) listIn(found, note.projectKey).push({ entry, note });
    else if (source === null) listIn(others, entry.taskDir).push(entry);
  }
  const all: MirroredSessions[] = [];
  for (const [projectKey, transcripts] of found) {
    const mirror = new Mirror(store, transcripts);
    const sessions = await mirror.listSessions();
    const captured: string[] = [];
    for (const { sessionId } of sessions)
      for (const { entry, note } of transcripts)
        if (note.sessionId === sessionId && note.subpath === undefined)
          if (await isCaptured(sessionId, others.get(entry.taskDir) ?? [])) captured.push(sessionId);
    all.push({ projectKey, sessionIds: sessions.map((one) => one.sessionId), captured, source: mirror });
  }
  return all;
}

/** A transcript in a store, with the note of its last batch. */
interface Transcript {
  readonly entry: ListedDispatch;
  readonly note: BatchNote;
}

class Mirror implements Pick<Required<SessionStore>, 'load' | 'listSessions' | 'listSubkeys'> {
  readonly #store: Pick<DispatchStore, 'findDispatch'>;
  readonly #transcripts: readonly Transcript[];

  constructor(store: Pick<DispatchStore, 'findDispatch'>, transcripts: readonly Transcript[]) {
    this.#store = store;
    // If two tasks have the same transcript, the one that was stored last counts.
    this.#transcripts = [...transcripts].sort((one, other) => other.note.mtime - one.note.mtime);
  }

  async load({ sessionId, subpath }: SessionKey): Promise<SessionStoreEntry[] | null> {
    const found = this.#of(sessionId).find(({ note }) => note.subpath === subpath);
    return found === undefined ? null : readEntries(this.#store, found.entry);
  }

  async listSessions(): Promise<{ sessionId: string; mtime: number }[]> {
    const mains = this.#transcripts.filter(({ note }) => note.subpath === undefined);
    const latest = new Map(mains.toReversed().map(({ note }) => [note.sessionId, note.mtime]));
    return [...latest].map(([sessionId, mtime]) => ({ sessionId, mtime }));
  }

  async listSubkeys({ sessionId }: { sessionId: string }): Promise<string[]> {
    return [...new Set(this.#of(sessionId).flatMap(({ note }) => note.subpath ?? []))];
  }

  #of(sessionId: string): Transcript[] {
    return this.#transcripts.filter(({ note }) => note.sessionId === sessionId);
  }
}

/** How many of the first events of a run can be before its session begins. */
const mostBefore = 200;

async function isCaptured(sessionId: string, runs: readonly ListedDispatch[]): Promise<boolean> {
  for (const { log } of runs)
    for await (const { events } of log.pages({ limit: mostBefore })) {
      if (events.some(({ type, data }) => type === 'session:init' && data.sessionId === sessionId))
        return true;
      break;
    }
  return false;
}

function listIn<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
