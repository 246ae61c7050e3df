import type { CapturedEvent } from '@hansard/events';
import {
  EventWords,
  foldWord,
  type SearchEventsOptions,
  type SearchHit,
  storeErrors,
} from '@hansard/provider';
import { withFile } from '@hansard/store-kit';
import { dispatchPaths } from './disk-format.ts';
import type { DispatchName } from './dispatch/dispatch-file.ts';
import { DispatchReader } from './dispatch/dispatch-reader.ts';
import type { OpenDispatches } from './dispatch/open-dispatches.ts';
import type { Files } from './files.ts';
import type { EventRange } from './lines/open-file.ts';
import { parseLine } from './lines/read-events.ts';
import { type ScannedLine, scanLines } from './lines/scan-lines.ts';
import { listDispatchIds, walkTaskDirs } from './task-folder.ts';

export interface SearchedStore {
  readonly files: Files;
  readonly root: string;
  readonly dispatches: OpenDispatches;
}

/** Reads every byte of the scope, so its time grows with the scope. @throws STORE_CORRUPT for a damaged dispatch */
export function searchEvents(store: SearchedStore, query: string, options: SearchEventsOptions): SearchHit[] {
  const filter = new WordFilter(query);
  let hits = new NewestHits(options.limit ?? 100);
  if (filter.isEmpty) return [];
  for (const name of searchedFiles(store, options)) hits = searchFile(store.files, name, filter, hits);
  return hits.list();
}

/** Those that were changed last come first, because their events leave the fewest older ones to look at. */
function searchedFiles(
  { files, root, dispatches }: SearchedStore,
  { taskDir, dispatchId }: SearchEventsOptions,
): readonly DispatchName[] {
  const found: { readonly name: DispatchName; readonly changedAt: number }[] = [];
  for (const task of taskDir === undefined ? walkTaskDirs(files, root) : [taskDir]) {
    const folder = dispatches.taskFolder(task);
    for (const id of dispatchId === undefined ? listDispatchIds(files, folder) : [dispatchId]) {
      const name = { taskDir: task, dispatchId: id, paths: dispatchPaths(folder, id) };
      found.push({ name, changedAt: files.lstat(name.paths.file)?.ctimeMs ?? 0 });
    }
  }
  return found.sort((one, other) => other.changedAt - one.changedAt).map(({ name }) => name);
}

/** @returns the hits with those of the file */
function searchFile(files: Files, name: DispatchName, filter: WordFilter, hits: NewestHits): NewestHits {
  try {
    return withFile('search', name.paths.file, () => {
      const reader = DispatchReader.open(files, name);
      try {
        // It can be read more than once while another process changes it.
        return reader.read((range) => searchLines(range, name, filter, hits.copy()));
      } finally {
        reader.close();
      }
    });
  } catch (error) {
    // It does not exist, or was deleted since it was listed.
    if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return hits;
    throw error;
  }
}

/** The start of the line of an event, in the order that this project writes. */
const lineStart = /^\{"id":"[^"\\]*","type":"[^"\\]*",(?:"v":\d+,)?"timestamp":(?:"([^"\\]*)"|null)/;
const startLength = 250;

/** Adds the hits among the lines of a dispatch. @throws STORE_CORRUPT */
function searchLines(
  range: EventRange,
  { taskDir, dispatchId }: Pick<DispatchName, 'taskDir' | 'dispatchId'>,
  filter: WordFilter,
  hits: NewestHits,
): NewestHits {
  let position = 0;
  scanLines(range, range.start + 1, (line) => {
    const { bytes, start, end } = line;
    const isOld = hits.isFull && !hits.canBe(timeOf(line));
    if (!isOld && filter.mayMatch(bytes, start, end)) {
      const event = parseLine(range, line);
      if (hits.canBe(event.timestamp) && filter.matches(event))
        hits.add({ taskDir, dispatchId, position, event });
    }
    position += 1;
    return true;
  });
  return hits;
}

/** The time of an event ('' if it has none), found without parsing its text; a time after all others if this store did not write the event. */
function timeOf({ bytes, start, end }: ScannedLine): string {
  const text = bytes.toString('latin1', start, Math.min(end, start + startLength));
  const found = lineStart.exec(text);
  return found === null ? '\uffff' : (found[1] ?? '');
}

/** Keeps the newest hits of a search, in bounded memory. */
class NewestHits {
  readonly #limit: number;
  #hits: SearchHit[] = [];
  /** '': the hit has no time, and counts as older than all others. Null: there are fewer hits than wanted. */
  #oldest: string | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  copy(): NewestHits {
    const copy = new NewestHits(this.#limit);
    copy.#hits = [...this.#hits];
    copy.#oldest = this.#oldest;
    return copy;
  }

  /** Whether there are as many hits as wanted, so that older events are not among them. */
  get isFull(): boolean {
    return this.#oldest !== null;
  }

  /** Whether an event of this time can be among the newest hits. */
  canBe(timestamp: string | null): boolean {
    return this.#oldest === null || (timestamp ?? '') >= this.#oldest;
  }

  add(hit: SearchHit): void {
    this.#hits.push(hit);
    // Sorting at every addition would cost more than the search.
    if (this.#hits.length >= 2 * this.#limit + 100) this.#trim();
  }

  /** Newest last. */
  list(): SearchHit[] {
    this.#trim();
    return [...this.#hits];
  }

  #trim(): void {
    this.#hits = this.#hits.sort(compareHits).slice(-this.#limit);
    const [first] = this.#hits;
    if (first !== undefined && this.#hits.length === this.#limit) this.#oldest = first.event.timestamp ?? '';
  }
}

function compareHits(one: SearchHit, other: SearchHit): number {
  return (
    compare(one.event.timestamp ?? '', other.event.timestamp ?? '') ||
    compare(one.taskDir, other.taskDir) ||
    compare(one.dispatchId, other.dispatchId) ||
    one.position - other.position
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Lead bytes of the letters that lose an accent or become ASCII when they are folded, and of accents that follow a letter. */
const foldable = /[\xc3-\xca\xcc\xcd]|\xe1[\xb4-\xbf]|\xe2\x84[\xaa\xab]/;
const beyondAscii = /[\x80-\xff]/;

/** Finds the events with every word of a query. Most lines of a file are ruled out by their bytes, without parsing them. */
class WordFilter {
  readonly #query: EventWords;
  /** With an expression that finds the word, ignoring case, also in a longer word. */
  readonly #inAscii: readonly (readonly [word: string, anywhere: RegExp])[];
  readonly #others: readonly string[];

  constructor(query: string) {
    this.#query = new EventWords(query);
    const { words } = this.#query;
    const isAscii = (word: string) => Buffer.byteLength(word) === word.length;
    // A word has only letters and digits, so none of its characters is a command of regular expressions.
    this.#inAscii = words.filter(isAscii).map((word) => [word, new RegExp(word, 'i')]);
    this.#others = words.filter((word) => !isAscii(word));
  }

  /** Whether the query has no word, so that nothing can match. */
  get isEmpty(): boolean {
    return this.#query.words.length === 0;
  }

  /** Whether the text of an event can contain every word. */
  mayMatch(bytes: Buffer, start: number, end: number): boolean {
    const raw = bytes.toString('latin1', start, end);
    let folded: string | null = null;
    const fold = () => {
      folded ??= foldWord(bytes.toString('utf8', start, end));
      return folded;
    };
    for (const [word, anywhere] of this.#inAscii)
      if (!anywhere.test(raw) && !(foldable.test(raw) && fold().includes(word))) return false;
    if (this.#others.length === 0) return true;
    return beyondAscii.test(raw) && this.#others.every((word) => fold().includes(word));
  }

  matches(event: CapturedEvent): boolean {
    return this.#query.areIn(event);
  }
}
