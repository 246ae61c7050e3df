import { sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type DispatchStore, ensureTaskRecord } from '@hansard/dispatch';
import type { Fidelity, HansardError } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import {
  isUnreadable,
  type LogImporterProvider,
  type LogSource,
  type LogSummary,
  type OpenLog,
  type StoreError,
} from '@hansard/provider';
import type { GitCheckpoints } from './find/git-checkpoints.ts';
import { assertRegularFile } from './find/read-source.ts';
import { importErrors } from './import-errors.ts';
import { importedRole, type RecordedLog, recordLog, type UnchangedRecord } from './record/record-log.ts';

/** One dispatch of a log. */
interface LogPlace {
  /** The files of the log, its own first. */
  readonly files: readonly string[];
  readonly format: string;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly role: string;
  /** Which dispatch of the log it is, from 1, and how many the log has. */
  readonly number: number;
  readonly of: number;
}

/** A dispatch whose log has not changed since its last complete import. Nothing was read. */
export interface UnchangedLog extends LogPlace, UnchangedRecord {}

/** A dispatch that was imported. */
export interface ImportReport
  extends LogPlace,
    Pick<LogSummary, 'lines' | 'records' | 'events' | 'counts' | 'diagnostics' | 'balance'>,
    Omit<RecordedLog, 'kind' | 'summary'> {
  readonly kind: 'imported';
  /** Whether only the name, the folder and the first record identify the log, so that another log may have the same. */
  readonly isIdentifiedByPlace: boolean;
  /** Why the record of the task could not be read. The log was recorded all the same. */
  readonly taskProblem?: StoreError;
}

/**
 * Why logs were left out: an option of the import; `excluded`: their sessions were deleted; `busy`: another process
 * writes them; `unsafe-name`: their names cannot be file names; `captured`: a run has recorded them.
 */
export type LeftOutReason =
  | 'since'
  | 'project'
  | 'exclude'
  | 'excluded'
  | 'busy'
  | 'unsafe-name'
  | 'captured';

/** Logs that were left out for one reason. */
export interface LeftOutLogs {
  readonly kind: 'left-out';
  readonly reason: LeftOutReason;
  /** The first file of each. */
  readonly paths: readonly string[];
}

/** A path that was not imported, or a log whose import failed. The others are imported. */
export interface ImportFailure {
  readonly kind: 'failed';
  /** A file or a folder; of a log with several files, all of them. */
  readonly path: string;
  readonly error: unknown;
  /** How many files the error is about, if more than one. */
  readonly files?: number;
  /** Whether there was nothing else to import. */
  readonly isOnly: boolean;
}

/** Which of the found logs are imported. */
export interface LogFilter {
  /** Milliseconds since 1970: only logs of which a file has changed since then. */
  readonly since?: number | undefined;
  /** Only logs that worked in this folder or below it, or in a folder of this name. A log that names no folder is left out. */
  readonly project?: string | undefined;
  /** No files at or below these paths, nor below a folder or with a file of such a name; and no logs that worked in such a folder. */
  readonly exclude?: readonly string[] | undefined;
}

export interface ImportOptions extends LogFilter {
  /** Imports sessions that were deleted. Absent: they are left out. */
  readonly again?: boolean | undefined;
  /** The `taskDir` of the task. Absent: the one that each log names. */
  readonly task?: string | undefined;
  /** The id of the format. Absent: the records show it. */
  readonly as?: string | undefined;
  /** For logs that can be recorded at either. Absent: that of an existing dispatch, or else `full`. */
  readonly fidelity?: Fidelity | undefined;
  /** Ends the import after a batch. The dispatch of that batch is `aborted`, until another import completes it. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Absent: `logImporters`. */
  readonly importers?: readonly LogImporterProvider[] | undefined;
  /** Reads logs again whose files have not changed since their last complete import. */
  readonly reread?: boolean | undefined;
  /** Estimates the cost of calls that the log states no cost for. Absent: `standardPrices`. `false`: no estimates. */
  readonly prices?: PriceTable | false | undefined;
  /**
   * After how many milliseconds without a record a log without an end has ended: `completed` after a final text, `aborted` after
   * an interruption, else `crashed`. The time of the files counts where no record has one. Absent: an hour.
   */
  readonly quietAfterMs?: number | undefined;
  /** Milliseconds since 1970, for logs without times, and to find quiet logs. Absent: the system clock. */
  readonly now?: (() => number) | undefined;
  /** The sessions of a Git repository, by the files that were written for them. A session that the store has from its product is only linked. */
  readonly checkpoints?: GitCheckpoints | undefined;
  /** The name of this machine, for logs that were found in the home folder of its user. Absent: envelopes name none. */
  readonly machine?: string | undefined;
}

/** Bytes and logs of the import. */
export interface ImportProgress {
  readonly bytes: number;
  readonly of: number;
  /** The number of the log that is read, from 1. */
  readonly log: number;
  readonly logs: number;
}

/** The files of the logs that only their place identifies, by task and dispatch. */
type TakenDispatches = Map<string, string>;

/** The tasks of the dispatches that a store has, by id. The store is listed when the first dispatch is not where its log names it. */
export class TasksOfDispatches {
  readonly #store: DispatchStore;
  #listed: Map<string, string> | null = null;

  constructor(store: DispatchStore) {
    this.#store = store;
  }

  /** The task of the first import of a log. Absent: the task that it names now. */
  async find({ taskDir, dispatchId, format }: OpenLog): Promise<string | undefined> {
    if (taskDir === undefined || (await this.#store.findDispatch({ taskDir, dispatchId })) !== null)
      return taskDir;
    this.#listed ??= await this.#list();
    const found = this.#listed.get(`${format} ${dispatchId}`) ?? taskDir;
    this.#listed.set(`${format} ${dispatchId}`, found);
    return found;
  }

  async #list(): Promise<Map<string, string>> {
    const tasks = new Map<string, string>();
    for await (const entry of this.#store.dispatches()) {
      if ('error' in entry) continue;
      const key = `${entry.envelope.source?.format} ${entry.dispatchId}`;
      if (!tasks.has(key)) tasks.set(key, entry.taskDir);
    }
    return tasks;
  }
}

/** What an import knows beside its options. */
export interface ImportRun {
  /** Absent: a dispatch keeps none, and no undo finds it. */
  readonly id: string | undefined;
  readonly taken: TakenDispatches;
  readonly tasks: TasksOfDispatches;
  /** The files whose logs are recorded. A log that others name is opened with each of them. */
  readonly done: Set<string>;
  readonly onProgress: (bytes: number) => void;
  readonly onLeftOut: (reason: LeftOutReason, path: string) => void;
}

/** Records every dispatch of one log. */
export async function* importSource(
  store: DispatchStore,
  importer: LogImporterProvider,
  source: LogSource,
  options: ImportOptions,
  { id: run, taken, tasks, done, onProgress, onLeftOut }: ImportRun,
): AsyncGenerator<ImportReport | UnchangedLog, undefined> {
  const { task, signal, now = Date.now } = options;
  const { fidelity, prices, reread, quietAfterMs, again, machine, checkpoints } = options;
  for (const file of source.files) assertRegularFile(file);
  const logs = await importer.open(source, { now });
  const own = new Set<string>();
  for (const [at, log] of logs.entries()) {
    // Some stores answer at once, always: signals are handled here.
    if (at > 0) await setImmediate();
    const unwanted = whyUnwanted(log, options);
    if (unwanted !== null) {
      onLeftOut(unwanted, source.files[0] ?? '');
      continue;
    }
    const taskDir = task ?? (await tasks.find(log));
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
      again,
      run,
      machine,
      checkpoints,
    });
    if (result.kind === 'excluded') {
      onLeftOut('excluded', source.files[0] ?? '');
      continue;
    }
    const [file = ''] = files;
    const isDone = done.has(file) && !own.has(file);
    own.add(file);
    if (importer.group === undefined) done.add(file);
    if (result.kind === 'unchanged') {
      if (isDone) continue;
      yield { ...place, ...result };
      continue;
    }
    const { summary, kind: _, ...recorded } = result;
    const { lines, records, events, counts, diagnostics, balance } = summary;
    yield {
      kind: 'imported',
      ...place,
      ...(lines === undefined ? {} : { lines }),
      records,
      events,
      counts,
      diagnostics,
      balance,
      ...recorded,
      isIdentifiedByPlace: log.identifiedByPlace !== undefined,
      ...(taskProblem === null ? {} : { taskProblem }),
    };
    if (signal?.aborted) return;
  }
}

/** Why a log is left out, because of the folder that it worked in. Null: it is not. */
function whyUnwanted(log: OpenLog, { project, exclude = [] }: LogFilter): 'project' | 'exclude' | null {
  if (project !== undefined && !isOfProject(log, project)) return 'project';
  return exclude.some((name) => isOfProject(log, name)) ? 'exclude' : null;
}

/** Whether a log worked in a folder, or in one of that name. */
function isOfProject({ cwd }: OpenLog, project: string): boolean {
  if (cwd === undefined || cwd === null) return false;
  return isBelow(cwd, project) || /[^\\/]*$/.exec(cwd)?.[0] === project;
}

/** Whether a path is that of a folder, or below it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
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
    if (isUnreadable(error)) return error;
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
