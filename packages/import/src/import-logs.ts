import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { DispatchStore } from '@hansard/dispatch';
import { createIdSource, definedOnly, formatErrors } from '@hansard/events';
import { type LogFile, type LogImporterProvider, type LogSource, storeErrors } from '@hansard/provider';
import { documentsOf, type FoundLogs, findLogs, sidecars, toAbsolute } from './find/find-logs.ts';
import { readHead, refuseWiped } from './find/read-source.ts';
import { findUnreadFiles, type UnreadFiles } from './find/unread-files.ts';
import { importErrors } from './import-errors.ts';
import {
  type ImportFailure,
  type ImportOptions,
  type ImportReport,
  importSource,
  isBelow,
  type LeftOutLogs,
  type LeftOutReason,
  type LogFilter,
  TasksOfDispatches,
  type UnchangedLog,
} from './import-source.ts';
import {
  detectImporter,
  importerNamed,
  refuseOtherFormat,
  unsupported,
} from './importers/choose-importer.ts';
import { logImporters } from './importers/log-importers.ts';
import { nameProduct } from './importers/products.ts';
import { relateSessions } from './record/across-sessions.ts';

export type ImportItem = ImportReport | UnchangedLog | LeftOutLogs | UnreadFiles | ImportFailure;

/**
 * Imports all logs that some paths mean (see `findLogs`), one after the other, and reports each dispatch once it is
 * recorded. A log that fails stops none of the others: it is a report of the kind `failed`. Logs that may have several
 * files, such as game logs, come last. What was left out is reported by reason, and what lies beside the logs and is not read by kind. At the end, sessions get the titles that summaries in other sessions have for them, and keep what they have copied from each other. Ends
 * early after `signal`.
 * @throws IMPORT_FORMAT_UNKNOWN for an unknown `as`
 */
export async function* importLogs(
  store: DispatchStore,
  paths: readonly string[],
  options: ImportOptions = {},
): AsyncGenerator<ImportItem, undefined> {
  let isChanged = false;
  for await (const item of importEach(store, paths, options)) {
    isChanged ||= item.kind === 'imported' && item.added > 0;
    yield item;
  }
  if (isChanged && options.signal?.aborted !== true) await relateSessions(store, options);
}

/** Imports logs that were found, as one of many such imports: no run names them, and sessions are not related at the end. */
export function importFound(
  store: DispatchStore,
  found: FoundLogs,
  options: ImportOptions,
): AsyncGenerator<ImportItem, undefined> {
  return importEach(store, [], options, found);
}

async function* importEach(
  store: DispatchStore,
  paths: readonly string[],
  options: ImportOptions,
  given?: FoundLogs,
): AsyncGenerator<ImportItem, undefined> {
  const { as, importers = logImporters, signal, exclude = [] } = options;
  const named = as === undefined ? undefined : importerNamed(importers, as);
  const found = given ?? findLogs(paths, documentsOf(importers));
  const unsupported = new UnsupportedFiles();
  const leftOut = new LeftOut();
  if (named === undefined)
    unsupported.addBelow(paths, (file) => !isExcluded(file, exclude) || leftOut.add('exclude', file));
  const besides = unsupported.count;
  const failures = failuresOf(found, paths, named, unsupported);
  yield* failures;
  if (failures.some(({ isOnly }) => isOnly)) return;

  const logs = found.logs.filter(({ files }) => leftOut.lets(files, options));
  const all = logs.reduce((sum, { bytes }) => sum + bytes, 0);
  const id = runOf(options, given);
  const shared = { id, taken: new Map(), tasks: new TasksOfDispatches(store), done: new Set<string>() };
  const toGroup = new Map<LogImporterProvider, LogSource[]>();
  const isOnly = logs.length === 1 && paths.length === 1;
  let [failed, bytes, log] = [failures.length, 0, 0];
  const importOne = async function* (importer: LogImporterProvider, source: LogSource) {
    yield* importSource(store, importer, source, options, {
      ...shared,
      onProgress: (read) => options.onProgress?.({ bytes: bytes + read, of: all, log, logs: logs.length }),
      onLeftOut: (reason, path) => leftOut.add(reason, path),
    });
    bytes += source.bytes;
  };

  for (const source of logs) {
    const [path = ''] = source.files;
    log += 1;
    if (shared.done.has(path)) continue;
    try {
      const importer = chooseImporter(path, importers, named);
      if (importer.group === undefined) yield* importOne(importer, source);
      else toGroup.set(importer, [...(toGroup.get(importer) ?? []), source]);
    } catch (error) {
      if (!isOnly && isBusy(error)) leftOut.add('busy', path);
      else if (isOnly || !unsupported.take(error)) {
        failed += 1;
        yield { kind: 'failed', path, error, isOnly };
      }
    }
    if (signal?.aborted && toGroup.size === 0) return;
  }
  const isAll = paths.length === 1 && failed === 0 && unsupported.count - besides === logs.length;
  yield* unsupported.failures(isAll);

  const groups = groupSources(toGroup, named === undefined ? [] : paths.map(toAbsolute));
  for (const { importer, source } of groups) {
    try {
      yield* importOne(importer, source);
    } catch (error) {
      const isOne = groups.length === 1 && source.files.length === logs.length && failed === 0;
      yield { kind: 'failed', path: source.files.join(', '), error, isOnly: isOne };
    }
    if (signal?.aborted) return;
  }
  yield* leftOut.items();
  yield* findUnreadFiles(paths, found.logs, (file) => !isExcluded(file, exclude));
}

/** The id of a run, unless it is one of many. */
function runOf({ now }: ImportOptions, given: FoundLogs | undefined): string | undefined {
  return given === undefined ? createIdSource(definedOnly({ now }))() : undefined;
}

/** Whether another process writes the session, or has created it meanwhile: two imports at once. */
function isBusy(error: unknown): boolean {
  return storeErrors.is(error, 'STORE_LOCKED') || storeErrors.is(error, 'STORE_DISPATCH_EXISTS');
}

/** Why a log is not opened; null: it is. */
function whyLeftOut(files: readonly string[], { since, exclude = [] }: LogFilter): LeftOutReason | null {
  if (files.some((file) => isExcluded(file, exclude))) return 'exclude';
  return since !== undefined && changedAt(files) < since ? 'since' : null;
}

function isExcluded(file: string, exclude: readonly string[]): boolean {
  return exclude.some((one) =>
    /[\\/]/.test(one) ? isBelow(file, toAbsolute(one)) : file.split(sep).includes(one),
  );
}

/** When the last of some files has changed; never left out, if that is not known. */
function changedAt(files: readonly string[]): number {
  const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
  return Math.max(...times);
}

/** What an import left out, by reason. */
class LeftOut {
  readonly #paths = new Map<LeftOutReason, Set<string>>();

  /** False, for filters. */
  add(reason: LeftOutReason, path: string): false {
    const paths = this.#paths.get(reason) ?? new Set();
    this.#paths.set(reason, paths.add(path));
    return false;
  }

  /** Whether a log is opened. */
  lets(files: readonly string[], filter: LogFilter): boolean {
    const reason = whyLeftOut(files, filter);
    return reason === null || this.add(reason, files[0] ?? '');
  }

  items(): LeftOutLogs[] {
    return [...this.#paths].map(([reason, paths]) => ({ kind: 'left-out', reason, paths: [...paths] }));
  }
}

/** Files that were named as the parts of one log are imported together or not at all. */
function failuresOf(
  { problems }: FoundLogs,
  paths: readonly string[],
  named: LogImporterProvider | undefined,
  unsupported: UnsupportedFiles,
): ImportFailure[] {
  const stopsAll = paths.length === 1 || named?.group !== undefined;
  const others = problems.filter(
    ({ path, error }) => !(importErrors.is(error, 'IMPORT_NO_LOGS') && unsupported.isBelow(path)),
  );
  const failures = others.map(
    ({ path, error, isNamed }): ImportFailure => ({
      kind: 'failed',
      path,
      error,
      isOnly: isNamed && stopsAll,
    }),
  );
  const last = failures.findIndex(({ isOnly }) => isOnly);
  return last < 0 ? failures : failures.slice(0, last + 1);
}

function chooseImporter(
  path: string,
  importers: readonly LogImporterProvider[],
  named: LogImporterProvider | undefined,
): LogImporterProvider {
  const head = readHead(path);
  refuseWiped(head);
  if (named === undefined) return detectImporter(importers, head);
  refuseOtherFormat(importers, named, head);
  return named;
}

function groupSources(
  toGroup: ReadonlyMap<LogImporterProvider, readonly LogSource[]>,
  named: readonly string[],
): { importer: LogImporterProvider; source: LogSource }[] {
  return [...toGroup].flatMap(([importer, sources]) => {
    const bytes = new Map(sources.map((source) => [source.files[0] ?? '', source.bytes]));
    const files = [...bytes.keys()].map(
      (path): LogFile => ({ path, isNamed: named.includes(path), head: () => readHead(path) }),
    );
    return (importer.group?.(files) ?? []).map((paths) => ({
      importer,
      source: { files: paths, bytes: paths.reduce((sum, path) => sum + (bytes.get(path) ?? 0), 0) },
    }));
  });
}

/** The files of an import whose products cannot be imported, by product. */
class UnsupportedFiles {
  readonly #files = new Map<string, string[]>();
  readonly #folders = new Set<string>();
  count = 0;

  /** Adds the files of products below the folders among some paths that are not `.jsonl` files. */
  addBelow(paths: readonly string[], isWanted: (file: string) => boolean): void {
    for (const path of paths.map(toAbsolute)) {
      if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) continue;
      for (const file of findOtherFiles(path).filter(isWanted)) {
        const product = productOf(file);
        if (product === null) continue;
        this.#add(product, file);
        this.#folders.add(path);
      }
    }
  }

  /** Adds the file that an error is about; false for any other error. */
  take(error: unknown): boolean {
    if (!importErrors.is(error, 'IMPORT_PRODUCT_UNSUPPORTED')) return false;
    const { product, files } = error.details;
    for (const file of files as readonly string[]) this.#add(String(product), file);
    return true;
  }

  /** Whether a folder has files of a product, so that it is not without logs. */
  isBelow(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** One failure for each product. `isAll`: whether the import had nothing else. */
  failures(isAll: boolean): ImportFailure[] {
    const isOnly = isAll && this.#files.size === 1;
    return [...this.#files].map(([product, files]) => ({
      kind: 'failed',
      path: files[0] ?? '',
      error: unsupported(product, files),
      isOnly,
      files: files.length,
    }));
  }

  #add(product: string, file: string): void {
    this.count += 1;
    const files = this.#files.get(product);
    if (files === undefined) this.#files.set(product, [file]);
    else files.push(file);
  }
}

function productOf(file: string): string | null {
  try {
    return nameProduct(readHead(file));
  } catch (error) {
    if (formatErrors.is(error)) return null;
    throw error;
  }
}

/** Where products keep sessions, beside `.jsonl` files. */
const sessionNames = /\.(json|db|vscdb|sqlite3?|eval|traj)$|^\.aider\.(chat|llm)\.history(\.md)?$/;
const mostFiles = 10_000;

/** The other files of a folder and below that may be of a product, at most 10,000. What cannot be read is left out. */
function findOtherFiles(folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && found.length < mostFiles; next = folders.pop()) {
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && sessionNames.test(entry.name) && !sidecars.test(entry.name))
        found.push(path);
    }
  }
  return found.sort();
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The walk for logs reports it.
    return [];
  }
}
