import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type CapturedEvent, isPlainObject, type JsonObject, type NewEvent } from '@hansard/events';
import { isUnreadable, type StoreError, storeErrors } from '@hansard/provider';
import { isNotesTask, notesTask } from '../check-arguments.ts';
import { dispatchErrors } from '../dispatch-errors.ts';
import type { Dispatch } from '../store/dispatch.ts';
import type { DispatchEntry } from '../store/dispatch-entry.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';

const kinds = ['note', 'bookmark', 'tag', 'rating', 'filter'] as const;

/** A mark of a person on a session, or on an event of it. */
export interface NewNote {
  /** Null: a filter, which is on no session. */
  readonly on: {
    readonly taskDir: string;
    readonly dispatchId: string;
    /** Absent: the mark is on the whole session. */
    readonly event?: { readonly id: string; readonly position: number };
  } | null;
  /** Per reader, a session or an event has one rating, one bookmark, and each tag once. A filter has a name of its own. */
  readonly kind: (typeof kinds)[number];
  /** The words of a note, a tag, or the name of a filter; at most 10,000 characters. Empty: of a bookmark and of a rating. */
  readonly text?: string;
  /** 1 to 5. */
  readonly rating?: number;
  /** What a filter stands for, in the words of the page that saved it. */
  readonly address?: string;
}

export interface Note extends Required<NewNote> {
  readonly id: string;
  /** The name of the reader who made it. */
  readonly reader: string;
  /** RFC 3339. Null: not recorded. */
  readonly at: string | null;
}

const mostCharacters = 10_000;
const mostOfTag = 60;

/** Milliseconds. How long a writer waits for another process that writes marks of the same reader. */
const waitMs = 10_000;

/** The task of the marks on the sessions of a task. */
function taskOfNotes(taskDir: string | undefined): string {
  const [project = ''] = taskDir?.split('/') ?? [];
  return taskDir === undefined ? notesTask : `${notesTask}/${project}`;
}

/**
 * The marks of all readers on the sessions of a project, on one session, or of the whole store with the saved filters, in the order of their times.
 * `errors`: of the dispatches of marks that cannot be read.
 */
export async function readNotes(
  store: Pick<DispatchStore, 'dispatches' | 'findDispatch'>,
  { taskDir, dispatchId }: { readonly taskDir?: string; readonly dispatchId?: string } = {},
): Promise<{ readonly notes: readonly Note[]; readonly errors: readonly StoreError[] }> {
  const notes: Note[] = [];
  const errors: StoreError[] = [];
  const scope = taskDir === undefined ? ({ internal: true } as const) : { taskDir: taskOfNotes(taskDir) };
  for await (const entry of store.dispatches(scope)) {
    if (!isNotesTask(entry.taskDir)) continue;
    try {
      if ('error' in entry) throw entry.error;
      const log = await store.findDispatch(entry);
      const reader = entry.envelope.title ?? entry.dispatchId;
      if (log !== null) notes.push(...(await notesIn(log.events({ types: ['note:*'] }), reader)));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      errors.push(error);
    }
  }
  const isOf = ({ on }: Note) =>
    taskDir === undefined ||
    (on?.taskDir === taskDir && (dispatchId === undefined || on.dispatchId === dispatchId));
  return {
    notes: notes.filter(isOf).sort((one, other) => compare(one.at ?? '', other.at ?? '')),
    errors,
  };
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

/** The dispatches of the store or of a task; of the store also those with the marks of people, which its listing omits. */
export async function* dispatchesWithNotes(
  store: Pick<DispatchStore, 'dispatches'>,
  { taskDir }: { readonly taskDir?: string | undefined } = {},
): AsyncGenerator<DispatchEntry, undefined> {
  yield* store.dispatches(taskDir === undefined ? {} : { taskDir });
  if (taskDir !== undefined) return;
  for await (const entry of store.dispatches({ internal: true })) if (isNotesTask(entry.taskDir)) yield entry;
}

async function notesIn(
  events: AsyncIterable<{ readonly event: CapturedEvent }>,
  reader: string,
): Promise<Note[]> {
  const notes = new Map<string, Note>();
  for await (const { event } of events) {
    if (event.type === 'note:removed') {
      const removed = [...notes].find(([, { id }]) => id === event.data.note);
      if (removed !== undefined) notes.delete(removed[0]);
      continue;
    }
    const note = event.type === 'note:added' ? noteOf(event, reader) : null;
    if (note === null) continue;
    const key = keyOf(note);
    notes.delete(key);
    notes.set(key, note);
  }
  return [...notes.values()];
}

/** What a later mark of the same reader replaces. */
function keyOf({ id, on, kind, text }: Note): string {
  if (kind === 'note') return id;
  const name = kind === 'rating' ? '' : text;
  return JSON.stringify([kind, name, on?.taskDir, on?.dispatchId, on?.event?.id]);
}

/** Null: it is none that this version knows. */
function noteOf({ id, timestamp, data }: CapturedEvent, reader: string): Note | null {
  const { on, kind, text = '', rating = 0, address = '' } = data;
  const known = kinds.find((one) => one === kind);
  const place = on === null ? null : placeOf(on);
  if (known === undefined || place === undefined || (place === null) !== (known === 'filter')) return null;
  if (typeof text !== 'string' || typeof rating !== 'number' || typeof address !== 'string') return null;
  return { id, reader, at: timestamp, on: place, kind: known, text, rating, address };
}

function placeOf(value: unknown): Exclude<Note['on'], null> | undefined {
  if (!isPlainObject(value)) return undefined;
  const { taskDir, dispatchId, event } = value;
  if (typeof taskDir !== 'string' || typeof dispatchId !== 'string') return undefined;
  if (event === undefined) return { taskDir, dispatchId };
  if (!isPlainObject(event) || typeof event.id !== 'string' || typeof event.position !== 'number')
    return undefined;
  return { taskDir, dispatchId, event: { id: event.id, position: event.position } };
}

/** Records the marks of one reader. Several writers of one reader, also in other processes, wait for each other: none loses a mark. */
export class NoteWriter {
  readonly #store: DispatchStore;
  /** As others see it. */
  readonly reader: string;
  /** By the task, the last write. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(store: DispatchStore, reader: string) {
    this.#store = store;
    this.reader = reader;
  }

  /** @throws DISPATCH_NOTE_INVALID, STORE_LOCKED if another process writes marks of the reader for more than ten seconds */
  async add(note: NewNote): Promise<Note> {
    const reason = whyInvalid(note);
    if (reason !== null) throw dispatchErrors.error('DISPATCH_NOTE_INVALID', reason, { details: { reason } });
    const { on, kind, text, rating, address } = note;
    const data: JsonObject = {
      on,
      kind,
      ...(text === undefined ? {} : { text: text.trim() }),
      ...(rating === undefined ? {} : { rating }),
      ...(address === undefined ? {} : { address }),
    };
    const event = await this.#append(taskOfNotes(on?.taskDir), { type: 'note:added', data });
    return noteOf(event, this.reader) as Note;
  }

  /** Removes a mark of this reader. @throws DISPATCH_NOTE_NOT_FOUND, STORE_LOCKED as `add` */
  async remove({ id, on }: Pick<Note, 'id' | 'on'>): Promise<void> {
    const taskDir = taskOfNotes(on?.taskDir);
    const log = await this.#store.findDispatch(this.#refOf(taskDir));
    const own = log === null ? [] : await notesIn(log.events({ types: ['note:*'] }), this.reader);
    if (!own.some((note) => note.id === id))
      throw dispatchErrors.error('DISPATCH_NOTE_NOT_FOUND', `${this.reader} has no mark ${id}.`, {
        details: { note: id, reader: this.reader },
      });
    await this.#append(taskDir, { type: 'note:removed', data: { note: id } });
  }

  #refOf(taskDir: string): DispatchRef {
    return { taskDir, dispatchId: `notes-${hash('sha256', this.reader, 'hex').slice(0, 16)}` };
  }

  #append(taskDir: string, event: NewEvent): Promise<CapturedEvent> {
    const write = () => this.#appendInTurn(this.#refOf(taskDir), event);
    const written = (this.#last.get(taskDir) ?? Promise.resolve()).then(write, write);
    this.#last.set(taskDir, written);
    return written;
  }

  async #appendInTurn(ref: DispatchRef, event: NewEvent): Promise<CapturedEvent> {
    for (const until = Date.now() + waitMs; ; ) {
      try {
        const dispatch = await this.#claim(ref);
        try {
          const recorded = await dispatch.append(event);
          // One that was created and not ended, now or by a process that was killed.
          if (dispatch.envelope.status === 'running')
            await dispatch.end({ status: 'completed', title: this.reader });
          return recorded;
        } finally {
          await dispatch.release();
        }
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_LOCKED') || Date.now() > until) throw error;
        await delay(10 + Math.random() * 60);
      }
    }
  }

  async #claim(ref: DispatchRef): Promise<Dispatch> {
    const owner = 'a writer of marks';
    if ((await this.#store.findDispatch(ref)) === null)
      try {
        const { taskDir, dispatchId } = ref;
        const begun = { dispatchId, role: 'notes', title: this.reader, fidelity: 'full' } as const;
        return await this.#store.beginDispatch(taskDir, begun, { owner });
      } catch (error) {
        // Another process began it meanwhile.
        if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
      }
    return this.#store.openDispatch(ref, { write: true, owner });
  }
}

function whyInvalid({ on, kind, text = '', rating, address }: NewNote): string | null {
  if (!kinds.includes(kind)) return `There are no marks of the kind ${JSON.stringify(kind)}.`;
  const length = text.trim().length;
  if ((on === null) !== (kind === 'filter')) return 'A filter is on no session, and every other mark on one.';
  if (kind === 'rating')
    return Number.isInteger(rating) && Number(rating) >= 1 && Number(rating) <= 5
      ? null
      : 'A rating is 1 to 5.';
  if (kind === 'bookmark') return null;
  if (length === 0) return `A ${kind} needs a text.`;
  if (kind === 'filter' && (address === undefined || address.length > mostCharacters))
    return 'A filter needs an address.';
  if (kind !== 'note' && (length > mostOfTag || /[\n\r]/.test(text.trim())))
    return `A ${kind} is one line of at most ${mostOfTag} characters.`;
  return length > mostCharacters ? `A note has at most ${mostCharacters} characters.` : null;
}
