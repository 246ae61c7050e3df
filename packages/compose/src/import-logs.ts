import { resolve } from 'node:path';
import { type DispatchStore, HeapRestraint } from '@hansard/dispatch';
import { definedOnly, type Fidelity } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import {
  type GitCheckpoints,
  type ImportItem,
  type ImportProgress,
  importLogs,
  importSessions,
  type LogFilter,
  logImporters,
  type ProductSurvey,
  type ReadableSessionStore,
  readPriceFile,
  SourceWatcher,
  surveyProducts,
  type WatchOptions,
} from '@hansard/import';
import type { LoadedConfig } from './configuration.ts';
import type { OpenParts } from './open-parts.ts';
import { toTaskDir } from './sessions/task-name.ts';

/** Sessions of a `SessionStore` of the Claude Agent SDK. */
interface StoredSessions {
  readonly projectKey: string;
  readonly sessionIds: readonly string[];
  readonly source: ReadableSessionStore;
}

export interface HarnessImportOptions {
  /** Imports these sessions in place of paths; a format and importers of plugins do not apply. */
  readonly sessions?: readonly StoredSessions[];
  /** Absent: derived from each session. */
  readonly task?: string;
  /** The format, by the id of its importer. Absent: detected from the records. */
  readonly as?: string;
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Reads files again that have not changed since their last import. */
  readonly reread?: boolean;
  /** Which of the found sessions are imported. */
  readonly filter?: LogFilter;
  /** Imports sessions that were deleted. Absent: they are left out. */
  readonly again?: boolean;
  /** Records into this store, such as one in memory for a trial. Absent: the store of the configuration. */
  readonly into?: DispatchStore;
  /** After how many milliseconds without a record a session without an end counts as ended. Absent: an hour. */
  readonly quietAfterMs?: number;
  /** The sessions of a Git repository, if the paths were written from it. */
  readonly checkpoints?: GitCheckpoints;
  /** The name of this machine, if the paths are folders of products in a home folder of it. Absent: not recorded. */
  readonly machine?: string;
  /** Receives how many bytes are read, and which log. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

export type HarnessWatchOptions = Pick<
  WatchOptions,
  'home' | 'machine' | 'fidelity' | 'quietAfterMs' | 'onItem' | 'onFailure' | 'mostWatches'
>;

export async function* importInHarness(
  { store, plugins, loaded, context }: OpenParts,
  paths: readonly string[],
  { task, as, sessions, onProgress, filter, into = store, ...options }: HarnessImportOptions,
): AsyncGenerator<ImportItem> {
  using heap = new HeapRestraint();
  const { exclude, ...selection } = filter ?? {};
  const all = {
    ...options,
    ...selection,
    task: task === undefined ? undefined : toTaskDir(task),
    now: context.now,
    prices: pricesOf(loaded),
    signal: context.signal,
    onProgress: (progress: ImportProgress) => {
      heap.hold();
      onProgress?.(progress);
    },
  };
  for (const { source, ...which } of sessions ?? [])
    yield* importSessions(into, source, { ...all, ...which });
  if (sessions !== undefined) return;
  const named = paths.map((path) => resolve(context.cwd, path));
  yield* importLogs(into, named, { ...all, as, exclude, importers: importersOf(plugins) });
}

/** What known products have below a home folder. */
export function surveyInHarness(
  { plugins, context }: Pick<OpenParts, 'plugins' | 'context'>,
  home: string,
): ProductSurvey[] {
  return surveyProducts({ home, environment: context.env, importers: importersOf(plugins) });
}

/** Claims the watch of a home folder. @throws STORE_LOCKED if another process has it */
export function watchInHarness(
  { store, plugins, loaded, context }: OpenParts,
  options: HarnessWatchOptions,
): Promise<SourceWatcher> {
  return SourceWatcher.open(store, {
    ...options,
    ...definedOnly({ now: context.now, signal: context.signal, prices: pricesOf(loaded) }),
    environment: context.env,
    importers: importersOf(plugins),
  });
}

function importersOf(plugins: OpenParts['plugins']) {
  return [...logImporters, ...plugins.providers('LogImporterProvider').map(({ provider }) => provider)];
}

/** Undefined: the standard table. */
function pricesOf({ config: { prices }, baseDir }: LoadedConfig): PriceTable | false | undefined {
  return typeof prices === 'string' ? readPriceFile(resolve(baseDir, prices)) : prices;
}
