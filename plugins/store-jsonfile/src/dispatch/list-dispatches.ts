import { compareByStart, type DispatchListing, isStoreError } from '@hansard/provider';
import { withFile } from '@hansard/store-kit';
import { dispatchPaths } from '../disk-format.ts';
import type { Files } from '../files.ts';
import { listDispatchIds } from '../task-folder.ts';
import { readDispatchEnvelope } from './dispatch-file.ts';

/** A dispatch without the time of its last event. */
export type ListedDispatch = Omit<DispatchListing, 'lastActiveAt'>;

/** The dispatches in a task's folder by their start, then those that cannot be read, each with the reason. */
export function listDispatches(files: Files, taskDir: string, taskFolder: string): ListedDispatch[] {
  const readable: (ListedDispatch & { readonly envelope: NonNullable<ListedDispatch['envelope']> })[] = [];
  const unreadable: ListedDispatch[] = [];
  for (const dispatchId of withFile('list', taskFolder, () => listDispatchIds(files, taskFolder))) {
    const { file } = dispatchPaths(taskFolder, dispatchId);
    try {
      const envelope = withFile('read', file, () => readDispatchEnvelope(files, file));
      if (envelope !== null) readable.push({ taskDir, dispatchId, envelope });
    } catch (error) {
      if (!isStoreError(error)) throw error;
      unreadable.push({ taskDir, dispatchId, envelope: null, error });
    }
  }
  readable.sort((a, b) => compareByStart(a.envelope, b.envelope));
  return [...readable, ...unreadable];
}
