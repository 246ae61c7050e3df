import type { DispatchEnvelope } from '@hansard/events';
import { compareByStart, type DispatchListing, isStoreError, type StoreError } from '@hansard/provider';
import { withFile } from '@hansard/store-kit';
import { dispatchPaths } from '../disk-format.ts';
import type { Files } from '../files.ts';
import { listDispatchIds } from '../task-folder.ts';
import { readDispatchEnvelope } from './dispatch-file.ts';

/** The dispatches in a task's folder by their start, then those that cannot be read, each with the reason. */
export function listDispatches(files: Files, taskFolder: string): DispatchListing[] {
  const readable: { readonly dispatchId: string; readonly envelope: DispatchEnvelope }[] = [];
  const unreadable: { readonly dispatchId: string; readonly envelope: null; readonly error: StoreError }[] =
    [];
  for (const dispatchId of withFile('list', taskFolder, () => listDispatchIds(files, taskFolder))) {
    const { file } = dispatchPaths(taskFolder, dispatchId);
    try {
      const envelope = withFile('read', file, () => readDispatchEnvelope(files, file));
      if (envelope !== null) readable.push({ dispatchId, envelope });
    } catch (error) {
      if (!isStoreError(error)) throw error;
      unreadable.push({ dispatchId, envelope: null, error });
    }
  }
  readable.sort((a, b) => compareByStart(a.envelope, b.envelope));
  return [...readable, ...unreadable];
}
