import { type DispatchEnvelope, messageOf, toTimestamp } from '@hansard/events';
import { warn } from '../host.ts';
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
  if ((await store.findTask(taskDir)) !== null) return;
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

/** Receives the error of a task record that could not be read or written. Recording continues: only listings need it. */
export type TaskProblemListener = (error: unknown) => void;

/** Creates the record of the task of a dispatch that has begun, if the task has none. `onProblem` absent: a warning of the process. */
export async function ensureTaskOf(
  store: DispatchStore,
  taskDir: string,
  { startedAt }: DispatchEnvelope,
  onProblem: TaskProblemListener = warnOf(taskDir),
): Promise<void> {
  try {
    await ensureTaskRecord(store, taskDir, startedAt === null ? {} : { now: () => Date.parse(startedAt) });
  } catch (error) {
    onProblem(error);
  }
}

function warnOf(taskDir: string): TaskProblemListener {
  return (error) =>
    warn(`The record of the task ${taskDir} is unavailable, and recording continues: ${messageOf(error)}`, {
      code: 'HANSARD_TASK_RECORD',
    });
}
