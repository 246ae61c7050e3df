import { type DispatchListing, isStoreError } from '@hansard/provider';
import type { StoreParts } from './store-parts.ts';
import type { ListedDispatch } from './tables/dispatch-table.ts';

/** The dispatches of a task or of all, and an entry for each task that cannot be listed. */
export function listDispatches(
  { dispatches, tasks }: StoreParts,
  taskDir: string | undefined,
): ListedDispatch[] {
  const taskDirs = taskDir === undefined ? tasks.list().map((task) => task.taskDir) : [taskDir];
  return taskDirs.flatMap((task) => {
    try {
      return dispatches.list(task);
    } catch (error) {
      if (!isStoreError(error, 'STORE_CORRUPT') && !isStoreError(error, 'STORE_UNAVAILABLE')) throw error;
      return [{ taskDir: task, dispatchId: null, envelope: null, error }];
    }
  });
}

export function withActivity({ reader }: StoreParts, listed: ListedDispatch): DispatchListing {
  const { taskDir, dispatchId, envelope } = listed;
  if (dispatchId === null || envelope === null) return { ...listed, lastActiveAt: null };
  try {
    const [last] = reader.recent(taskDir, dispatchId, 1);
    return { ...listed, lastActiveAt: last?.timestamp ?? envelope.startedAt };
  } catch (error) {
    if (!isStoreError(error) || error.isTransient) throw error;
    return { ...listed, lastActiveAt: null };
  }
}
