import { toTimestamp } from '@hansard/events';
import type { DispatchStore } from './dispatch-store.ts';

export interface NewTaskRecord {
  /** Absent: the slug, which is the last part of `taskDir`. */
  readonly name?: string | undefined;
  /** Milliseconds since 1970, for the time of creation. Absent: the system clock. */
  readonly now?: (() => number) | undefined;
}

/**
 * Creates the record of a task that has none. Only listings need the record, so a caller that records may continue after
 * an error.
 * @throws STORE_CORRUPT, STORE_UNAVAILABLE
 */
export async function ensureTaskRecord(
  store: DispatchStore,
  taskDir: string,
  { name, now = Date.now }: NewTaskRecord = {},
): Promise<void> {
  if ((await store.getTask(taskDir)) !== null) return;
  const parts = taskDir.split('/');
  const slug = parts.at(-1) ?? taskDir;
  const project = parts[0] ?? slug;
  await store.putTask(taskDir, {
    slug,
    name: name ?? slug,
    project,
    status: 'open',
    created: toTimestamp(now()),
  });
}
