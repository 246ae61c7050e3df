import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DispatchStore, HeapRestraint, watchTask } from '@hansard/dispatch';
import { definedOnly, formatErrors, isHansardError, messageOf, toTimestamp } from '@hansard/events';
import { type LogSource, storeErrors } from '@hansard/provider';
import { documentsOf, findLogs } from '../find/find-logs.ts';
import { productFolders } from '../find/survey.ts';
import { type ImportItem, importFound } from '../import-logs.ts';
import { type ImportOptions, isBelow } from '../import-source.ts';
import { logImporters } from '../importers/log-importers.ts';
import { relateSessions } from '../record/across-sessions.ts';
import { defaultQuietAfterMs } from '../record/end-of-log.ts';
import { FolderEvents, SourceTree } from './source-tree.ts';
import { excludedWords, numberOf, WatchRecord, type WatchState } from './watch-records.ts';
import { WatchedSessions } from './watched-sessions.ts';

export interface WatchOptions
  extends Pick<ImportOptions, 'importers' | 'prices' | 'quietAfterMs' | 'fidelity' | 'now' | 'signal'> {
  /** The home folder whose products are watched. */
  readonly home: string;
  /** The variables that can name other folders of products. Absent: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The name of this machine. */
  readonly machine: string;
  /** Receives what each look imported, left out or could not import. */
  readonly onItem?: (item: ImportItem) => void;
  /** Receives why a look could not be finished. The watcher tries again. */
  readonly onFailure?: (error: unknown) => void;
  /** After how many milliseconds without a change a single look ends. Absent: 1,000. */
  readonly settledAfterMs?: number | undefined;
  /** How many folders it may watch for events; with fewer than it needs, it polls. Absent: what the system allows. */
  readonly mostWatches?: number | undefined;
}

/** What one look has found. */
export interface WatchLook {
  /** How many logs were imported or had grown. */
  readonly imported: number;
  /** How many sessions are newly marked, because their sources are gone. */
  readonly gone: number;
  /** Whether a file was new, changed or gone. */
  readonly isChanged: boolean;
}

/** After this time without an event a write has settled; a file that is written all the time is read after the second. */
const settleMs = 250;
const mostSettleMs = 1_000;
/** How long the watcher waits for events before it looks at all files, because events can be lost. */
const lookMs = 60_000;
/** How long it waits where events are not to be had. */
const pollMs = 30_000;
/** Sessions are compared with each other when nothing has changed for this time. */
const relateMs = 10_000;
/** How often the state is kept while files change. */
const keepMs = 10_000;
/** Looks take at most a fifth of the time while files change without pause; what they take before is free. */
const restFactor = 4;
const freeMs = 10_000;
const mostRestMs = 30_000;
const mostProblems = 20;

/**
 * Imports what the known products of a home folder write, as they write it. What disappears from its source stays, and is marked. What was deleted
 * from the store or is left out is not imported. Sources are only read.
 */
export class SourceWatcher {
  readonly #store: DispatchStore;
  readonly #options: WatchOptions;
  readonly #record: WatchRecord;
  readonly #tree = new SourceTree();
  readonly #startedAt: string;
  readonly #events: FolderEvents;
  readonly #dirty = new Set<string>();
  #heard = 0;
  #busyMs = 0;
  #restedAt = performance.now();
  #deepAt = Number.NEGATIVE_INFINITY;
  #tries = 0;
  #retryAt = Number.POSITIVE_INFINITY;
  #wake: () => void = () => {};
  #mode: WatchState['mode'] = 'once';
  /** The number of each log that is imported as it is, by its first file. */
  readonly #known = new Map<string, number>();
  /** Those of the watcher before, by number alone. */
  #knownBefore: ReadonlySet<number>;
  #logs = new Map<string, LogSource>();
  #logOf = new Map<string, string>();
  readonly #documents = new Map<string, readonly [state: string | undefined, isDocument: boolean]>();
  /** Files that are new, changed or gone and are not imported yet. */
  readonly #changed = new Set<string>();
  /** Logs that could not be read now, by their first files. */
  readonly #later = new Set<string>();
  readonly #leftOut = new Set<string>();
  readonly #problems = new Map<string, string>();
  #words: readonly string[] | null = null;
  readonly #sessions: WatchedSessions;
  /** Whether this watcher has opened every log, so that it knows all files of each session. */
  #isWhole = false;
  #quietAt: number | null = null;
  #failure: string | null = null;
  #lastImportAt: string | null = null;
  #isFirst = true;
  #isToRelate = false;
  #keptAt = Number.NEGATIVE_INFINITY;

  /** @throws STORE_LOCKED if another process watches the same home folder for this store */
  static async open(store: DispatchStore, options: WatchOptions): Promise<SourceWatcher> {
    return new SourceWatcher(store, options, await WatchRecord.claim(store, options.machine, options.home));
  }

  private constructor(store: DispatchStore, options: WatchOptions, record: WatchRecord) {
    this.#store = store;
    this.#options = options;
    this.#record = record;
    this.#startedAt = toTimestamp(this.#now());
    const { quietAfterMs = defaultQuietAfterMs } = options;
    this.#sessions = new WatchedSessions(store, options.machine, { now: () => this.#now(), quietAfterMs });
    this.#knownBefore = new Set(record.state?.known);
    this.#lastImportAt = record.state?.lastImportAt ?? null;
    this.#quietAt = record.state?.quietAt ?? null;
    this.#events = new FolderEvents((folder) => {
      this.#heard += 1;
      this.#dirty.add(folder);
      this.#wake();
    }, options.mostWatches);
  }

  /** How many folders the system watches for it. */
  get watches(): number {
    return this.#events.size;
  }

  /** Looks at all files once, and again until nothing has changed for a moment: a hook can come before its transcript is written. */
  async once(): Promise<WatchLook> {
    let sum = await this.#look(true);
    for (let turn = 0; sum.isChanged && turn < 10 && !this.#isStopped; turn += 1) {
      await this.#pause(this.#options.settledAfterMs ?? 1_000);
      const next = await this.#look(true);
      sum = { imported: sum.imported + next.imported, gone: sum.gone + next.gone, isChanged: true };
      if (!next.isChanged) break;
    }
    await this.#relate();
    await this.#keep(true);
    return sum;
  }

  /**
   * Follows all files until the signal aborts.
   *
   * @throws STORE_LOCKED if another process has taken the claim; STORE_DISPATCH_NOT_FOUND if the store was deleted or replaced; STORE_CLOSED
   */
  async run(): Promise<void> {
    this.#mode = 'events';
    using _heap = new HeapRestraint();
    let failures = 0;
    let isGrown = true;
    let changedAt = performance.now();
    while (!this.#isStopped) {
      const begun = performance.now();
      try {
        const isDeep = failures > 0 || begun >= Math.min(this.#retryAt, this.#deepAt + this.#longestMs);
        const { isChanged } = await this.#look(isDeep);
        this.#failure = null;
        this.#watchFolders();
        if (isChanged) changedAt = performance.now();
        isGrown ||= isChanged;
        const isIdle = performance.now() - changedAt >= relateMs;
        if (this.#isToRelate && isIdle) await this.#relate();
        await this.#keep(isDeep);
        if (isIdle && isGrown) {
          collectGarbage();
          isGrown = false;
        }
        failures = 0;
        this.#planRetry(isDeep);
        await this.#rest(begun);
        await this.#untilNext(changedAt, this.#isToRelate || isGrown);
      } catch (error) {
        if (isEnd(error)) throw error;
        failures += 1;
        await this.#fail(error);
        await this.#pause(Math.min(60_000, 1_000 * 2 ** failures));
      }
    }
    await this.#relate();
    await this.#keep(true);
  }

  /** Ends the claim. */
  async close(): Promise<void> {
    this.#events.close();
    await this.#record.release();
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Waits; the signal ends the wait. */
  async #pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    await wait(ms, undefined, definedOnly({ signal: this.#options.signal })).catch(() => {});
  }

  /** Rests after a look, if looks have taken too much of the time. */
  async #rest(begun: number): Promise<void> {
    const now = performance.now();
    this.#busyMs = Math.max(0, this.#busyMs - (begun - this.#restedAt) / restFactor) + (now - begun);
    this.#restedAt = now;
    await this.#pause(Math.min(mostRestMs, restFactor * (this.#busyMs - freeMs)));
  }

  /** A store that is away cannot keep why. */
  async #fail(error: unknown): Promise<void> {
    this.#failure = messageOf(error);
    this.#options.onFailure?.(error);
    await this.#keep(true).catch((again: unknown) => {
      if (isEnd(again)) throw again;
    });
  }

  /** Logs that could not be read are tried again soon, and then less often. */
  #planRetry(isDeep: boolean): void {
    if (this.#later.size === 0) this.#tries = 0;
    else if (isDeep || this.#tries === 0) this.#tries += 1;
    else return;
    const ms = Math.min(lookMs, 1_000 * 2 ** this.#tries);
    this.#retryAt = this.#tries === 0 ? Number.POSITIVE_INFINITY : performance.now() + ms;
  }

  get #longestMs(): number {
    return this.#mode === 'polling' ? pollMs : lookMs;
  }

  #watchFolders(): void {
    const begun = this.#events.set(this.#tree.folders(), new Set(this.#folders()));
    for (const folder of begun) this.#dirty.add(folder);
    this.#mode = this.#events.problem === null ? 'events' : 'polling';
  }

  /** Waits until a change has settled, or until it is time to look at everything, or to compare sessions. */
  async #untilNext(changedAt: number, isOpen: boolean): Promise<void> {
    const now = performance.now();
    const times = [
      ...[this.#retryAt, this.#deepAt + this.#longestMs],
      ...(isOpen ? [changedAt + relateMs] : []),
    ];
    await this.#untilDirty(Math.max(0, Math.min(...times) - now));
    if (this.#dirty.size === 0) return;
    const first = performance.now();
    for (let heard = -1; heard !== this.#heard && performance.now() - first < mostSettleMs; ) {
      heard = this.#heard;
      await this.#pause(settleMs);
    }
  }

  async #untilDirty(ms: number): Promise<void> {
    if (this.#dirty.size > 0 || this.#isStopped) return;
    const stop = new AbortController();
    this.#wake = () => stop.abort();
    const { signal } = this.#options;
    const signals = signal === undefined ? [stop.signal] : [stop.signal, signal];
    await wait(ms, undefined, { signal: AbortSignal.any(signals) }).catch(() => {});
    this.#wake = () => {};
  }

  /** The folders of the products that are read and not left out. */
  #folders(): string[] {
    const { home, environment = process.env } = this.#options;
    const words = new Set(this.#words);
    return productFolders(home, environment).flatMap(({ product, folder }) =>
      product.readBy === undefined || words.has(product.id) ? [] : folder,
    );
  }

  async #look(isDeepLook: boolean): Promise<WatchLook> {
    const isReworded = await this.#readWords();
    const folders = this.#folders();
    this.#lookAt(folders, isDeepLook || isReworded);
    const isQuiet = this.#quietAt !== null && this.#now() >= this.#quietAt;
    // What is gone since the watcher before is in no look of this one. It may have been killed before it compared sessions.
    const isOther = this.#isFirst && this.#record.state?.digest !== this.#digest();
    if (this.#isFirst && !isOther && !isQuiet) this.#changed.clear();
    this.#isToRelate ||= isOther;
    this.#isFirst = false;
    const isChanged = this.#changed.size > 0;
    const isToImport = isChanged || isOther || isReworded || (isDeepLook && this.#later.size > 0);
    if (isToImport || isQuiet || isDeepLook) await this.#record.assertThere();
    if (!isToImport && !isQuiet) return { imported: 0, gone: 0, isChanged };
    await this.#sessions.read();
    const counts = isToImport ? await this.#bringIn(folders, isReworded) : { imported: 0, gone: 0 };
    if (this.#isStopped) return { ...counts, isChanged };
    this.#changed.clear();
    this.#quietAt = await this.#sessions.endQuiet();
    return { ...counts, isChanged };
  }

  #lookAt(folders: readonly string[], isDeep: boolean): void {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    this.#tree.look(isDeep ? folders : dirty, isDeep, this.#changed);
    if (!isDeep) return;
    this.#deepAt = performance.now();
    for (const folder of this.#tree.folders().keys())
      if (!folders.some((root) => isBelow(folder, root))) this.#tree.forget(folder, this.#changed);
  }

  async #bringIn(folders: readonly string[], isAll: boolean) {
    this.#findLogs(folders, isAll || this.#later.size > 0);
    const logs = [...this.#logs.values()].filter((log) => !this.#isKnown(log));
    // A file that leaves its place and returns is looked at again.
    this.#knownBefore = new Set();
    let imported = await this.#import(logs);
    // Another file can have the same session. Sessions that a watcher before has imported are opened for that, once.
    if (!this.#isWhole && this.#missing(folders).length > 0) {
      imported += await this.#import([...this.#logs.values()]);
      this.#isWhole = !this.#isStopped;
    }
    const gone = this.#isStopped ? 0 : await this.#sessions.markGone(this.#missing(folders));
    return { imported, gone };
  }

  #missing(folders: readonly string[]) {
    return [...this.#sessions.missing(this.#tree, folders)];
  }

  /** Reads again what is left out; what was left out before is looked at again if that has changed. Returns whether it has. */
  async #readWords(): Promise<boolean> {
    const words = await excludedWords(this.#store);
    const isReworded = this.#words !== null && words.join('\n') !== this.#words.join('\n');
    this.#words = words;
    if (isReworded) for (const path of this.#leftOut) this.#known.set(path, -1);
    if (isReworded) this.#leftOut.clear();
    return isReworded;
  }

  /** The logs of what has changed. All are found anew if a file is new or gone. */
  #findLogs(folders: readonly string[], isAll: boolean): void {
    const isGrown = (path: string) => this.#logOf.has(path) && this.#tree.stateOf(path) !== undefined;
    if (!isAll && this.#logs.size > 0 && [...this.#changed].every(isGrown)) return;
    const detect = documentsOf(this.#options.importers ?? logImporters);
    const isDocument = (path: string) => {
      const state = this.#tree.stateOf(path);
      const before = this.#documents.get(path);
      if (before !== undefined && before[0] === state) return before[1];
      const found = detect(path);
      this.#documents.set(path, [state, found]);
      return found;
    };
    const { logs, problems } = findLogs(folders, isDocument);
    this.#problems.clear();
    for (const { path, error, isNamed } of problems)
      if (!isNamed || !isHansardError(error) || error.code !== 'IMPORT_NO_LOGS')
        this.#problems.set(path, error.message);
    this.#logs = new Map(logs.map((log) => [log.files[0] ?? '', log]));
    this.#logOf = new Map(logs.flatMap(({ files }) => files.map((file) => [file, files[0] ?? ''])));
    for (const path of this.#known.keys()) if (!this.#logs.has(path)) this.#known.delete(path);
    for (const path of this.#documents.keys())
      if (this.#tree.stateOf(path) === undefined) this.#documents.delete(path);
  }

  #numberOf({ files }: LogSource): number {
    const beside = files.flatMap((file) => (file.endsWith('.db') ? [`${file}-wal`, `${file}-journal`] : []));
    return numberOf([...files, ...beside].map((file) => `${file} ${this.#tree.stateOf(file)}`).join('\n'));
  }

  #isKnown(log: LogSource): boolean {
    const [path = ''] = log.files;
    const number = this.#numberOf(log);
    if (this.#known.has(path)) return this.#known.get(path) === number;
    if (!this.#knownBefore.has(number)) return false;
    this.#known.set(path, number);
    return true;
  }

  /** Imports logs. A log that cannot be read now is tried again at the next look at all files. @throws STORE_UNAVAILABLE */
  async #import(logs: readonly LogSource[]): Promise<number> {
    if (logs.length === 0) return 0;
    using heap = new HeapRestraint();
    const numbers = new Map(logs.map((log) => [log.files[0] ?? '', this.#numberOf(log)]));
    const inPart = new Set<string>();
    const seen = new Map<string, Set<string>>();
    for (const path of numbers.keys()) this.#later.delete(path);
    let imported = 0;
    const items = importFound(this.#store, { logs, problems: [] }, this.#importOptions(heap));
    for await (const item of items) {
      // A file can leave its place meanwhile. The next look sees where it went.
      const hasLeft = item.kind === 'failed' && !existsSync(item.path.split(', ')[0] ?? '');
      if (!hasLeft) this.#options.onItem?.(item);
      if (item.kind === 'failed') {
        if (storeErrors.is(item.error, 'STORE_UNAVAILABLE')) throw item.error;
        const [path = ''] = item.path.split(', ');
        inPart.add(path);
        if (!hasLeft) this.#problems.set(path, messageOf(item.error));
        if (!isLasting(item.error)) this.#later.add(path);
      } else if (item.kind === 'left-out') {
        for (const path of item.paths) {
          inPart.add(path);
          if (item.reason === 'busy') this.#later.add(path);
          if (item.reason === 'exclude') this.#leftOut.add(path);
        }
      } else if (item.kind !== 'not-read') {
        const [path = ''] = item.files;
        if (item.kind === 'imported') imported += 1;
        this.#problems.delete(path);
        seen.set(path, (seen.get(path) ?? new Set()).add(await this.#sessions.note(item, path)));
      }
    }
    if (this.#isStopped) return imported;
    for (const [path, number] of numbers) this.#known.set(path, this.#later.has(path) ? -1 : number);
    for (const [path, keys] of seen) if (!inPart.has(path)) this.#sessions.keepOnly(path, keys);
    if (imported > 0) {
      this.#isToRelate = true;
      this.#lastImportAt = toTimestamp(this.#now());
    }
    return imported;
  }

  #importOptions(heap: HeapRestraint): ImportOptions {
    const { importers, prices, quietAfterMs, fidelity, now, signal, machine } = this.#options;
    const exclude = [...(this.#words ?? [])];
    const onProgress = () => heap.hold();
    return { importers, prices, quietAfterMs, fidelity, now, signal, machine, exclude, onProgress };
  }

  async #relate(): Promise<void> {
    if (!this.#isToRelate || this.#isStopped) return;
    await relateSessions(this.#store, definedOnly({ prices: this.#options.prices }));
    this.#isToRelate = false;
  }

  /** Names all files as they are, and what is left out. */
  #digest(): string {
    const lines = [...this.#tree.files()].map(([path, state]) => `${path} ${state}`);
    return numberOf([...lines.sort(), ...(this.#words ?? [])].join('\n')).toString(16);
  }

  async #keep(isNeeded: boolean): Promise<void> {
    if (!isNeeded && performance.now() - this.#keptAt < keepMs) return;
    const before = this.#record.state;
    const isOpen = this.#isToRelate || this.#changed.size + this.#later.size > 0;
    const digest = isOpen ? '' : this.#digest();
    const isSame =
      before?.digest === digest && before.mode === this.#mode && before.failure === this.#failure;
    // An idle watcher writes nothing but its first look.
    if (isSame && before.startedAt === this.#startedAt && before.quietAt === this.#quietAt) return;
    this.#keptAt = performance.now();
    const known = [...this.#known].flatMap(([path, number]) =>
      number < 0 || this.#leftOut.has(path) ? [] : number,
    );
    const problems = [...this.#tree.problems, ...this.#problems].slice(0, mostProblems);
    await this.#record.keep({
      machine: this.#options.machine,
      home: this.#options.home,
      startedAt: this.#startedAt,
      mode: this.#mode,
      pollsBecause: this.#events.problem,
      keptAt: toTimestamp(this.#now()),
      lastImportAt: this.#lastImportAt,
      files: [...this.#tree.files()].length,
      folders: this.#folders(),
      problems: problems.map(([path, message]) => ({ path, message })),
      failure: this.#failure,
      digest,
      quietAt: this.#quietAt,
      known: this.#logs.size === 0 ? [...this.#knownBefore] : known,
    });
  }
}

/** Whether a log is not read again until one of its files changes. */
function isLasting(error: unknown): boolean {
  if (formatErrors.is(error, 'FORMAT_UNREADABLE') || !isHansardError(error)) return false;
  return !storeErrors.is(error) || error.code === 'STORE_CORRUPT' || error.code === 'STORE_NEWER';
}

/** Gives memory back: V8 keeps what an import needed until something else needs it. A watcher is idle for hours. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function isEnd(error: unknown): boolean {
  // A session that a person has deleted meanwhile does not end it.
  const isGone = storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND') && error.details.taskDir === watchTask;
  return isGone || storeErrors.is(error, 'STORE_LOCKED') || storeErrors.is(error, 'STORE_CLOSED');
}
