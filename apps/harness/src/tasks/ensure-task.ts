import { type DispatchStore, ensureTaskRecord } from '@hansard/dispatch';
import { isUnreadable } from '@hansard/provider';
import type { CliContext } from '../terminal/context.ts';
import { noteProblem } from '../terminal/explain-error.ts';

/** Creates the record of a task if it has none. An unreadable record is reported and not changed: only listings need it. */
export async function ensureTask(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  name?: string,
): Promise<void> {
  try {
    await ensureTaskRecord(store, taskDir, { name });
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    noteTaskProblem(context, error);
  }
}

export function noteTaskProblem(context: CliContext, error: unknown): void {
  noteProblem(context, error, 'Only listings need the record of a task; recording continues.');
}
