import type { DispatchEnvelope } from '@hansard/events';
import { compareByStart, type DispatchListing, isStoreError, type StoreError } from '@hansard/provider';
import { withFile } from '../errors.ts';
import { dispatchPaths, listDispatchIds } from '../task-folder.ts';
import { readDispatchEnvelope } from './dispatch-file.ts';

/** The dispatches below a task's folder by their start, then those that can't be read, each with the reason. */
export function listDispatches(taskFolder: string): DispatchListing[] {
  const whole: { readonly dispatchId: string; readonly envelope: DispatchEnvelope }[] = [];
  const unreadable: { readonly dispatchId: string; readonly envelope: null; readonly error: StoreError }[] =
    [];
  for (const dispatchId of withFile('list', taskFolder, () => listDispatchIds(taskFolder))) {
    const { file } = dispatchPaths(taskFolder, dispatchId);
    try {
      const envelope = withFile('read', file, () => readDispatchEnvelope(file));
      if (envelope !== null) whole.push({ dispatchId, envelope });
    } catch (error) {
      if (!isStoreError(error)) throw error;
      unreadable.push({ dispatchId, envelope: null, error });
    }
  }
  whole.sort((a, b) => compareByStart(a.envelope, b.envelope));
  return [...whole, ...unreadable];
}
