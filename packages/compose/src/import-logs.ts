import { resolve } from 'node:path';
import type { Fidelity } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import { type ImportItem, importLogs, logImporters, readPriceFile } from '@hansard/import';
import type { LoadedConfig } from './configuration.ts';
import type { OpenParts } from './open-parts.ts';
import { HeapRestraint } from './reading/paged-log.ts';
import { toTaskDir } from './sessions/task-name.ts';

export interface HarnessImportOptions {
  /** Absent: derived from each session. */
  readonly task?: string;
  /** The format, by the id of its importer. Absent: detected from the records. */
  readonly as?: string;
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Reads files again that have not changed since their last import. */
  readonly reread?: boolean;
  /** After how many milliseconds without a record a session without an end counts as ended. Absent: an hour. */
  readonly quietAfterMs?: number;
  /** Receives how many bytes are read, and of how many. */
  readonly onProgress?: (bytes: number, of: number) => void;
}

export async function* importInHarness(
  { store, plugins, loaded, context }: OpenParts,
  paths: readonly string[],
  { task, onProgress, ...options }: HarnessImportOptions,
): AsyncGenerator<ImportItem> {
  using heap = new HeapRestraint();
  yield* importLogs(
    store,
    paths.map((path) => resolve(context.cwd, path)),
    {
      ...options,
      task: task === undefined ? undefined : toTaskDir(task),
      now: context.now,
      prices: pricesOf(loaded),
      importers: [
        ...logImporters,
        ...plugins.providers('LogImporterProvider').map(({ provider }) => provider),
      ],
      signal: context.signal,
      onProgress: ({ bytes, of }) => {
        heap.hold();
        onProgress?.(bytes, of);
      },
    },
  );
}

/** Undefined: the standard table. */
function pricesOf({ config: { prices }, baseDir }: LoadedConfig): PriceTable | false | undefined {
  return typeof prices === 'string' ? readPriceFile(resolve(baseDir, prices)) : prices;
}
