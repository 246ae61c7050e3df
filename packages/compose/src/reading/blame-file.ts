import { basename, isAbsolute, join, normalize } from 'node:path';
import type {
  DispatchEntry,
  DispatchLog,
  DispatchStore,
  ListedDispatch,
  PositionedEvent,
} from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { EventWords, type StoreError, storeErrors } from '@hansard/provider';
import {
  AgentNames,
  type BlamedLine,
  changedWithoutContents,
  FileBlame,
  type FileStep,
  fileRecordsOf,
  LineTable,
  type ReplayedStep,
  replayOrder,
  stepOf,
} from '@hansard/views';
import { listAll } from '../sessions/resolve-session.ts';
import { FileIndex, stampOf } from './file-index.ts';

/** A recorded event that changed or read a file. */
export interface FileEvent {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
  readonly id: string;
  readonly agentId: string | null;
  readonly timestamp: string | null;
  readonly tool: string;
  readonly toolCallId: string;
  /** Whether a person changed the edit before it was made. */
  readonly isMixed: boolean;
}

/** A step of the history of a file, in the order of the replay. */
export interface FileHistoryStep extends ReplayedStep {
  readonly event: FileEvent;
  readonly path: string;
  readonly from: string | null;
  readonly isSeen: boolean;
  readonly isDeleted: boolean;
}

export interface BlamedFile {
  /** Empty if no content was given. */
  readonly lines: readonly BlamedLine<FileEvent>[];
  /** Whether the recorded edits made this content. */
  readonly isReplayed: boolean;
  readonly steps: readonly FileHistoryStep[];
  /** The sessions that changed the file and do not have its contents, because they are narratives. */
  readonly narratives: readonly DispatchEnvelope[];
  readonly unreadable: readonly StoreError[];
  /** Whether the order of the sessions is not known. */
  readonly isUnsure: boolean;
  /** Other paths of edited files with the same name. */
  readonly otherPaths: readonly string[];
}

interface BlameQuestion {
  /** The paths by which events can name the file. */
  readonly paths: readonly string[];
  /** The present content of the file. Null: the file does not exist, and only its history is wanted. */
  readonly content: string | null;
  /** The file of an index of the names in the logs, which this makes and keeps up to date. Absent: each log is read. The answer is the same. */
  readonly index?: string;
  /** Receives how many sessions were searched, and of how many. */
  readonly onSession: (searched: number, of: number) => Promise<void>;
}

/**
 * Replays the recorded edits of a file, of every session of a store. The events are found by the index of the store, or by a {@link FileIndex}: a log is
 * read as a whole only if the index does not know its present state.
 */
export async function blameFile(store: DispatchStore, question: BlameQuestion): Promise<BlamedFile> {
  const index = new FileIndex(question.index ?? null);
  const found = new FoundSteps(store, question.paths, index);
  const listings = await listAll(store, {});
  // A renaming that is found adds a path, whose events are looked for in turn.
  for (let names = found.newNames(); names.length > 0; names = found.newNames())
    await found.search(listings, names, question.onSession);
  index.save();
  const [path = ''] = question.paths;
  const { table } = found;
  const end = question.content === null ? null : { path, content: table.linesOf(question.content) };
  const order = replayOrder(found.sessions(), end);
  const blame = new FileBlame<FileEvent>(table, order.isUnsure);
  const steps = order.steps.map(({ step, event }): FileHistoryStep => {
    const { from, isSeen } = step;
    const replayed = blame.add(step, event, event.dispatchId);
    return { event, path: step.path, from, isSeen, isDeleted: step.after === null, ...replayed };
  });
  const now = question.content === null ? null : blame.linesNow(path, question.content);
  return {
    lines: now?.lines ?? [],
    isReplayed: now?.isReplayed ?? false,
    steps,
    narratives: found.narratives,
    unreadable: found.unreadable,
    isUnsure: order.isUnsure,
    otherPaths: [...found.otherPaths].sort(),
  };
}

interface FoundStep {
  readonly step: FileStep;
  readonly event: FileEvent;
  readonly time: number | null;
}

/** The most events with the words of a name that a search gives, the newest ones. */
const mostEvents = 100_000;

class FoundSteps {
  readonly table = new LineTable();
  readonly #envelopes = new Map<string, DispatchEnvelope>();
  readonly narratives: DispatchEnvelope[] = [];
  readonly #unreadable = new Map<string, StoreError>();
  readonly otherPaths = new Set<string>();
  readonly #store: DispatchStore;
  readonly #index: FileIndex;
  /** The spellings of the path of the file now. */
  readonly #spellings: readonly string[];
  /** The same, and its earlier paths. */
  readonly #paths: string[];
  #searched = 0;
  readonly #steps = new Map<string, Map<string, FoundStep>>();

  constructor(store: DispatchStore, paths: readonly string[], index: FileIndex) {
    this.#store = store;
    this.#index = index;
    this.#spellings = paths;
    this.#paths = [...paths];
  }

  get unreadable(): readonly StoreError[] {
    return [...this.#unreadable.values()];
  }

  /** The names of the paths that were not searched for yet. */
  newNames(): readonly string[] {
    const added = this.#paths.slice(this.#searched);
    this.#searched = this.#paths.length;
    return [...new Set(added.map((path) => basename(path)))];
  }

  /** Finds the events of files with these names. A store with an index is asked once for each name. */
  async search(
    listings: readonly DispatchEntry[],
    names: readonly string[],
    onSession: BlameQuestion['onSession'],
  ): Promise<void> {
    const readable = new Map<string, ListedDispatch>();
    for (const listing of listings)
      if (!('error' in listing)) readable.set(`${listing.taskDir}\n${listing.dispatchId}`, listing);
      else this.#unreadable.set(`${listing.taskDir}\n${listing.dispatchId}`, listing.error);
    const isIndexed = this.#store.capabilities.search === 'index';
    const lookedUp = isIndexed ? names.filter(hasWords) : [];
    for (const name of lookedUp)
      for (const hit of await this.#store.searchEvents(name, { limit: mostEvents })) {
        const listing = readable.get(`${hit.taskDir}\n${hit.dispatchId}`);
        if (listing !== undefined) this.#take(listing, hit.position, hit.event);
      }
    const others = names.filter((name) => !lookedUp.includes(name));
    if (others.length === 0) return;
    let searched = 0;
    for (const listing of readable.values()) {
      await this.#searchOne(listing, others);
      searched += 1;
      await onSession(searched, readable.size);
    }
  }

  async #searchOne(listing: ListedDispatch, names: readonly string[]): Promise<void> {
    try {
      const stamp = await stampOf(listing);
      const positions = this.#index.find(listing, stamp, names);
      if (positions === null) await this.#readWhole(listing, stamp, names);
      else
        for await (const { position, event } of eventsAt(listing.log, positions))
          this.#take(listing, position, event);
    } catch (error) {
      if (!storeErrors.is(error)) throw error;
      this.#unreadable.set(`${listing.taskDir}\n${listing.dispatchId}`, error);
    }
  }

  async #readWhole(listing: ListedDispatch, stamp: string, names: readonly string[]): Promise<void> {
    const all = new Map<number, readonly string[]>();
    for await (const { position, event } of listing.log.events({ types: ['agent:tool_result'] })) {
      const named = fileNamesIn(event, listing.envelope);
      if (named.length > 0) all.set(position, named);
      if (named.some((name) => names.includes(name))) this.#take(listing, position, event);
    }
    this.#index.add(listing, stamp, all);
  }

  /** The steps of each session, in the order of its log; of a copied event only the original. */
  sessions(): readonly (readonly FoundStep[])[] {
    const all = [...this.#steps].map(([dispatchId, steps]) => ({
      envelope: this.#envelopes.get(dispatchId),
      steps: [...steps.values()].sort((one, other) => one.event.position - other.event.position),
    }));
    const originals = new Map<string, FoundStep[]>();
    return all.sort(originsFirst).map(({ steps }) => {
      const own = steps.filter((one) => {
        const others = originals.get(one.event.toolCallId) ?? [];
        return !others.some((other) => isCopy(one, other));
      });
      for (const one of own)
        originals.set(one.event.toolCallId, [...(originals.get(one.event.toolCallId) ?? []), one]);
      return own;
    });
  }

  #take(listing: ListedDispatch, position: number, event: CapturedEvent): void {
    const { envelope, taskDir, dispatchId } = listing;
    const cwd = folderOf(event) ?? envelope.cwd;
    if (envelope.fidelity === 'narrative') {
      const path = changedWithoutContents(event);
      if (path !== null && this.#paths.includes(absolute(path, cwd)) && !this.narratives.includes(envelope))
        this.narratives.push(envelope);
      return;
    }
    fileRecordsOf(event).forEach((record, at) => {
      const path = absolute(record.path, cwd);
      const from = record.from === null ? null : absolute(record.from, cwd);
      const isOwn = this.#paths.includes(path);
      if (!isOwn && (from === null || !this.#paths.includes(from))) {
        const isNamed = !record.isSeen && this.#paths.some((one) => basename(one) === basename(path));
        if (isNamed) this.otherPaths.add(path);
        return;
      }
      if (isOwn && from !== null && !this.#paths.includes(from)) this.#paths.push(from);
      const step = {
        ...stepOf(this.table, record),
        path: this.#inOneSpelling(path),
        from: from && this.#inOneSpelling(from),
      };
      const { toolCallId, tool } = event.data as { readonly toolCallId: string; readonly tool: string };
      const found = {
        step,
        time: event.timestamp === null ? null : Date.parse(event.timestamp),
        event: {
          ...{ taskDir, dispatchId, position, id: event.id, agentId: event.agentId ?? null },
          ...{ timestamp: event.timestamp, tool, toolCallId, isMixed: record.isMixed },
        },
      };
      this.#envelopes.set(dispatchId, envelope);
      const steps = this.#steps.get(dispatchId) ?? new Map<string, FoundStep>();
      this.#steps.set(dispatchId, steps.set(`${position} ${at}`, found));
    });
  }

  #inOneSpelling(path: string): string {
    return this.#spellings.includes(path) ? (this.#spellings[0] ?? path) : path;
  }
}

/** Whether a search can find a name: letters and digits make words. */
function hasWords(name: string): boolean {
  return new EventWords(name).words.length > 0;
}

/** A session that others were forked from comes before them. */
function originsFirst(
  { envelope: one }: { readonly envelope: DispatchEnvelope | undefined },
  { envelope: other }: { readonly envelope: DispatchEnvelope | undefined },
): number {
  const order = (envelope: DispatchEnvelope | undefined) =>
    `${envelope?.forkedFrom === undefined ? 0 : 1} ${envelope?.startedAt ?? ''} ${envelope?.dispatchId}`;
  return order(one) < order(other) ? -1 : 1;
}

/** A copy of an event in a session that was forked has its call id and its contents. */
function isCopy({ step, event }: FoundStep, { step: other, event: original }: FoundStep): boolean {
  if (event.dispatchId === original.dispatchId || step.path !== other.path) return false;
  const isSame = (one: FileStep['after'], two: FileStep['after']) =>
    one === two || (one?.length === two?.length && one?.every((line, at) => line === two?.[at]) === true);
  return isSame(step.before, other.before) && isSame(step.after, other.after);
}

function folderOf({ data }: CapturedEvent): string | null {
  const { details } = data;
  return isPlainObject(details) && typeof details.cwd === 'string' ? details.cwd : null;
}

/** The names of the files that an event changed, read or renamed. */
function fileNamesIn(event: CapturedEvent, { fidelity, cwd }: DispatchEnvelope): string[] {
  const folder = folderOf(event) ?? cwd;
  const paths =
    fidelity === 'narrative'
      ? [changedWithoutContents(event)]
      : fileRecordsOf(event).flatMap(({ path, from }) => [path, from]);
  return paths.flatMap((path) => (path === null ? [] : [basename(absolute(path, folder))]));
}

/** Positions at most this far apart are read together. */
const nearPositions = 8;
const mostTogether = 256;

/** The events at growing positions. */
async function* eventsAt(log: DispatchLog, positions: readonly number[]): AsyncGenerator<PositionedEvent> {
  for (let at = 0; at < positions.length; ) {
    const first = positions[at] as number;
    let last = first;
    let end = at + 1;
    for (let next = positions[end]; next !== undefined; next = positions[end]) {
      if (next - last > nearPositions || next - first >= mostTogether) break;
      last = next;
      end += 1;
    }
    const wanted = new Set(positions.slice(at, end));
    for await (const { position, event } of log.events({ after: first - 1, limit: last - first + 1 })) {
      if (wanted.has(position)) yield { position, event };
      if (position >= last) break;
    }
    at = end;
  }
}

/** The absolute path of a recorded one; one without a known folder stays relative. */
function absolute(path: string, folder: string | null): string {
  if (isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path)) return normalize(path);
  return folder === null ? normalize(path) : join(folder, path);
}

/** Who made an edit, and what for. */
export interface EditContext {
  /** '' for a dispatched agent without a name. */
  readonly agent: string;
  /** The last prompt that the agent was given before; null: none is recorded. */
  readonly prompt: { readonly text: string; readonly position: number; readonly source: string } | null;
}

/** How many events are read at a time, from the edit backwards. */
const eventsBefore = 64;
/** How many events of a session are read for the names of agents. */
const eventsWithNames = 500;

/** Reads who made edits and what for, of the sessions and pages that it needs. */
export class EditContexts {
  readonly #store: DispatchStore;
  readonly #names = new Map<string, AgentNames>();

  constructor(store: DispatchStore) {
    this.#store = store;
  }

  async of({ taskDir, dispatchId, position, agentId }: FileEvent): Promise<EditContext> {
    const log = await this.#store.openDispatch({ taskDir, dispatchId });
    const prompt = await promptBefore(log, position, agentId);
    if (agentId === null) return { agent: '', prompt };
    const names = this.#names.get(dispatchId) ?? (await namesIn(log));
    this.#names.set(dispatchId, names);
    return { agent: names.of(agentId), prompt };
  }
}

async function namesIn(log: DispatchLog): Promise<AgentNames> {
  const names = new AgentNames();
  for await (const { events } of log.pages({ limit: eventsWithNames })) {
    for (const event of events) names.learn(event);
    break;
  }
  return names;
}

async function promptBefore(
  log: DispatchLog,
  position: number,
  agentId: string | null,
): Promise<EditContext['prompt']> {
  for (let end = position; end > 0; end -= eventsBefore) {
    const start = Math.max(0, end - eventsBefore);
    for await (const { events } of log.pages({ after: start - 1, limit: end - start })) {
      const at = events.findLastIndex((event) => isPrompt(event, agentId));
      const event = events[at];
      if (event === undefined || !isReadableAs(event, 'user:message')) break;
      return { text: event.data.text, position: start + at, source: event.data.source.kind };
    }
  }
  return null;
}

function isPrompt(event: CapturedEvent, agentId: string | null): boolean {
  if ((event.agentId ?? null) !== agentId || !isReadableAs(event, 'user:message')) return false;
  const { source } = event.data;
  return source.kind !== 'system' && source.hook === undefined;
}
