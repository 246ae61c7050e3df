import type { DispatchStore } from '@hansard/dispatch';
import { toTimestamp } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import type { CliContext } from '../terminal/context.ts';
import { noteProblem } from '../terminal/explain-error.ts';

/** Gives a task its record where it has none. One that can't be read is reported and left as it is: only listings need it. */
export async function ensureTask(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  name?: string,
): Promise<void> {
  try {
    if ((await store.getTask(taskDir)) !== null) return;
  } catch (error) {
    if (!isStoreError(error, 'STORE_CORRUPT') && !isStoreError(error, 'STORE_UNAVAILABLE')) throw error;
    noteProblem(context, error, 'Only listings need the record of a task; recording continues.');
    return;
  }
  const parts = taskDir.split('/');
  const slug = parts.at(-1) ?? taskDir;
  await store.putTask(taskDir, {
    slug,
    name: name ?? slug,
    project: parts[0] ?? slug,
    status: 'open',
    created: toTimestamp(Date.now()),
  });
}
