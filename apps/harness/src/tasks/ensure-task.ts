import type { DispatchStore } from '@hansard/dispatch';
import { type TaskRecord, toTimestamp } from '@hansard/events';

/** Gives a task its record where it has none. */
export async function ensureTask(store: DispatchStore, taskDir: string, name?: string): Promise<TaskRecord> {
  const existing = await store.getTask(taskDir);
  if (existing !== null) return existing;
  const parts = taskDir.split('/');
  const slug = parts.at(-1) ?? taskDir;
  const task: TaskRecord = {
    slug,
    name: name ?? slug,
    project: parts[0] ?? slug,
    status: 'open',
    created: toTimestamp(Date.now()),
  };
  await store.putTask(taskDir, task);
  return task;
}
