import { setImmediate } from 'node:timers/promises';
import { type DispatchStore, ensureTaskRecord } from '@hansard/dispatch';
import type { HansardError } from '@hansard/events';
import {
  type LogImporterProvider,
  type LogSource,
  type OpenLog,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { assertRegularFile } from './find/read-source.ts';
import { importErrors } from './import-errors.ts';
import type { ImportOptions } from './import-options.ts';
import type { ImportReport, UnchangedLog } from './import-report.ts';
import { importedRole, recordLog } from './record/record-log.ts';

/** The files of the logs that only their place identifies, by task and dispatch. */
export type TakenDispatches = Map<string, string>;

/** Records every dispatch of one log. */
export async function* importSource(
  store: DispatchStore,
  importer: LogImporterProvider,
  source: LogSource,
  { task, fidelity, signal, prices, reread, quietAfterMs, now = Date.now }: ImportOptions,
  taken: TakenDispatches,
  onProgress: (bytes: number) => void,
): AsyncGenerator<ImportReport | UnchangedLog, undefined> {
  for (const file of source.files) assertRegularFile(file);
  const logs = await importer.open(source, { now });
  for (const [at, log] of logs.entries()) {
    // Some stores answer at once, always: signals are handled here.
    if (at > 0) await setImmediate();
    const taskDir = task ?? log.taskDir;
    if (taskDir === undefined) throw taskRequired(log);
    take(taken, taskDir, log);
    const taskProblem = await taskProblemOf(store, taskDir, now);
    const { files, format, dispatchId, role = importedRole } = log;
    const place = { files, format, taskDir, dispatchId, role, number: at + 1, of: logs.length };
    const result = await recordLog(store, taskDir, log, {
      fidelity,
      signal,
      onProgress,
      prices,
      reread,
      quietAfterMs,
      now,
    });
    if (result.kind === 'unchanged') {
      yield { ...place, ...result };
      continue;
    }
    const { summary, kind: _, ...recorded } = result;
    const { lines, records, events, counts, diagnostics } = summary;
    yield {
      kind: 'imported',
      ...place,
      ...(lines === undefined ? {} : { lines }),
      records,
      events,
      counts,
      diagnostics,
      ...recorded,
      isIdentifiedByPlace: log.identifiedByPlace !== undefined,
      ...(taskProblem === null ? {} : { taskProblem }),
    };
    if (signal?.aborted) return;
  }
}

async function taskProblemOf(
  store: DispatchStore,
  taskDir: string,
  now: () => number,
): Promise<StoreError | null> {
  try {
    await ensureTaskRecord(store, taskDir, { now });
    return null;
  } catch (error) {
    if (storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_UNAVAILABLE')) return error;
    throw error;
  }
}

/** Takes the dispatch of a log, unless another file of this import that begins in the same way has taken it. */
function take(
  taken: TakenDispatches,
  taskDir: string,
  { dispatchId, identifiedByPlace: file }: OpenLog,
): void {
  if (file === undefined) return;
  const key = `${taskDir} ${dispatchId}`;
  const other = taken.get(key) ?? file;
  if (other !== file)
    throw importErrors.error(
      'IMPORT_AMBIGUOUS',
      `${file} and ${other} have the same name and the same first record, so nothing shows whether they are one log.`,
      { details: { file, other } },
    );
  taken.set(key, file);
}

function taskRequired({ files, format }: OpenLog): HansardError {
  return importErrors.error(
    'IMPORT_TASK_REQUIRED',
    `${files.join(', ')} does not say which task it belongs to (${format}).`,
    { details: { files, format } },
  );
}
