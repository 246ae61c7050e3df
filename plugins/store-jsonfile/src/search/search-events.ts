import { type SearchEventsOptions, type SearchHit, storeErrors } from '@hansard/provider';
import { withFile } from '@hansard/store-kit';
import { dispatchPaths } from '../disk-format.ts';
import type { DispatchName } from '../dispatch/dispatch-file.ts';
import { DispatchReader } from '../dispatch/dispatch-reader.ts';
import type { OpenDispatches } from '../dispatch/open-dispatches.ts';
import type { Files } from '../files.ts';
import { listDispatchIds, walkTaskDirs } from '../task-folder.ts';
import { NewestHits } from './newest-hits.ts';
import { searchLines } from './search-lines.ts';
import { WordFilter } from './word-filter.ts';

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
