import { join } from 'node:path';
import { type DispatchEnvelope, isPlainObject, parseTaskRecord, type TaskRecord } from '@hansard/events';
import { compareByStart, isStoreError, type TaskListing } from '@hansard/provider';
import { corrupt, orMissing, withFile } from '../errors.ts';
import { readText, replaceFile } from '../lines/file-io.ts';
import { listDispatchIds } from '../task-folder.ts';

/** What a task's file says of one dispatch (D10): enough for a quick look, and derived from the dispatch's own file. */
type DispatchSummary = Pick<
  DispatchEnvelope,
  'dispatchId' | 'role' | 'status' | 'cost' | 'startedAt' | 'parentDispatchId'
>;

interface TaskFile {
  /** The task's own fields; none where it has no record. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly dispatches: unknown;
}

function taskFilePath(taskFolder: string): string {
  return join(taskFolder, 'task.json');
}

export function taskLockPath(taskFolder: string): string {
  return join(taskFolder, '.task.lock');
}

/** The record of a task; null where it has none. @throws STORE_CORRUPT */
export function readTaskRecord(taskFolder: string): TaskRecord | null {
  const path = taskFilePath(taskFolder);
  const file = readTaskFile(path);
  if (file === null || Object.keys(file.fields).length === 0) return null;
  try {
    return parseTaskRecord(file.fields);
  } catch (cause) {
    throw corrupt(path, 0, 'it is not the record of a task', cause);
  }
}

/** A task as listings have it: one that can't be read hides no other. Null where it has neither a record nor a dispatch. */
export function listTask(taskDir: string, taskFolder: string): TaskListing | null {
  try {
    const task = withFile('read', taskFilePath(taskFolder), () => readTaskRecord(taskFolder));
    const isEmpty =
      task === null && withFile('list', taskFolder, () => listDispatchIds(taskFolder)).length === 0;
    return isEmpty ? null : { taskDir, task };
  } catch (error) {
    if (isStoreError(error)) return { taskDir, task: null, error };
    throw error;
  }
}

/** What a task's file is written for: a new record, or one dispatch that came, changed or went. */
export type TaskFileChange = { readonly task: TaskRecord } | { readonly dispatchId: string };

/**
 * Writes the file of a task. With a record its index is made anew; else only what changed, runs or is missing in it is
 * read again. A file that can't be read is left as it is, for its record may still be saved by hand.
 */
export function writeTaskFile(
  taskFolder: string,
  change: TaskFileChange,
  dispatchIds: readonly string[],
  readEnvelope: (dispatchId: string) => DispatchEnvelope | null,
  sync: boolean,
): void {
  const file =
    'task' in change ? { fields: change.task, dispatches: [] } : readTaskFile(taskFilePath(taskFolder));
  const known = new Map((Array.isArray(file?.dispatches) ? file.dispatches : []).filter(isOfEnded).map(byId));
  if ('dispatchId' in change) known.delete(change.dispatchId);
  const summaries = dispatchIds.flatMap((dispatchId) => {
    const summary = known.get(dispatchId);
    if (summary !== undefined) return summary;
    const envelope = readEnvelope(dispatchId);
    return envelope === null ? [] : summarise(envelope);
  });
  write(taskFolder, file?.fields ?? {}, summaries, sync);
}

function readTaskFile(path: string): TaskFile | null {
  const text = orMissing(() => readText(path, 'read linked'));
  if (text === null) return null;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw corrupt(path, 0, 'it is not JSON', cause);
  }
  if (!isPlainObject(content)) throw corrupt(path, 0, 'it is not an object');
  const { dispatches, ...fields } = content;
  return { fields, dispatches };
}

function write(
  taskFolder: string,
  fields: Readonly<Record<string, unknown>>,
  summaries: readonly DispatchSummary[],
  sync: boolean,
): void {
  const own = Object.entries(fields).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  const lines = [...summaries].sort(compareByStart).map((summary) => `\n    ${JSON.stringify(summary)}`);
  const text = `{\n${own.join('')}  "dispatches": [${lines.join(',')}\n  ]\n}\n`;
  replaceFile(taskFilePath(taskFolder), join(taskFolder, '.task.tmp'), Buffer.from(text), sync);
}

function summarise(envelope: DispatchEnvelope): DispatchSummary {
  const { dispatchId, role, status, cost, startedAt, parentDispatchId } = envelope;
  return { dispatchId, role, status, cost, startedAt, parentDispatchId };
}

/** What the file says of a dispatch that runs may be past: its end may have come while another process wrote the file. */
function isOfEnded(value: unknown): value is DispatchSummary {
  if (!isPlainObject(value) || value.status === 'running') return false;
  return typeof value.dispatchId === 'string' && typeof value.startedAt === 'string';
}

function byId(summary: DispatchSummary): [string, DispatchSummary] {
  return [summary.dispatchId, summary];
}
