import type { DispatchStore } from '@hansard/dispatch';
import type { Fidelity } from '@hansard/events';
import {
  type ClaudeFormatId,
  type ClaudeLog,
  openClaudeStream,
  openClaudeTranscript,
} from '@hansard/formats/claude';
import { CliError, exitCode } from '../cli-error.ts';
import { type CliContext, note, printJson, printLine } from '../context.ts';
import { ensureTask } from '../ensure-task.ts';
import { toTaskDir, toTaskName } from '../task-name.ts';
import type { ImportFile } from './find-import-files.ts';
import { detectImportFormat, type FileFormatId, isSessionFormat } from './import-formats.ts';
import { importSessionLog } from './import-session-log.ts';
import { recordLog } from './record-log.ts';
import { taskOfLog } from './task-of-log.ts';

export interface ImportFileOptions {
  readonly as?: FileFormatId;
  readonly task?: string;
  readonly fidelity?: Fidelity;
  readonly json?: boolean;
}

/** Imports one file and says what came of it. `onProgress` is told the bytes that were read. */
export async function importFile(
  context: CliContext,
  store: DispatchStore,
  file: ImportFile,
  options: ImportFileOptions,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const format = options.as ?? detectImportFormat(file.path);
  if (isSessionFormat(format)) await importSession(context, store, file.path, format, options);
  else {
    const log = await openLog(format, file);
    await importLog(context, store, log, options, onProgress);
  }
}

function openLog(format: ClaudeFormatId, { path, subAgents }: ImportFile): Promise<ClaudeLog> {
  return format === 'claude-stream' ? openClaudeStream(path) : openClaudeTranscript(path, { subAgents });
}

async function importLog(
  context: CliContext,
  store: DispatchStore,
  log: ClaudeLog,
  { task, fidelity, json }: ImportFileOptions,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const taskDir = task === undefined ? taskOfLog(log) : toTaskDir(task);
  await ensureTask(store, taskDir);
  const { signal } = context;
  const recorded = await recordLog(store, taskDir, log, { fidelity, signal, onProgress });
  const { lines, records, events, counts, oddities } = recorded.summary;
  const { added, rewritten, rewrittenCount } = recorded;
  const [file = ''] = log.files;
  const { dispatchId, format } = log;
  for (const id of rewritten)
    note(context, `${file}: the event ${id} was imported with other content before; both are kept.`);
  if (json) {
    const { files } = log;
    const numbers = { lines, records, events, added, rewritten: rewrittenCount };
    printJson(context, { file, files, taskDir, dispatchId, format, ...numbers, counts, oddities });
  } else {
    const there = events - added;
    const odd = Object.entries({ ...counts, ...(rewrittenCount > 0 ? { rewritten: rewrittenCount } : {}) })
      .map(([code, count]) => `${code} ${count}`)
      .join(', ');
    printLine(
      context,
      `${toTaskName(taskDir)} ${dispatchId}: ${format}, lines: ${lines}, events: ${added} new, ${there} there, oddities: ${odd || 'none'}`,
    );
  }
  if (!signal.aborted) return;
  throw new CliError(
    exitCode.failed,
    `${file} was imported in part: the import was interrupted.`,
    'What was recorded is safe; import it again to complete it.',
  );
}

async function importSession(
  context: CliContext,
  store: DispatchStore,
  file: string,
  format: Exclude<FileFormatId, ClaudeFormatId>,
  { task, json }: ImportFileOptions,
): Promise<void> {
  if (task === undefined)
    throw new CliError(
      exitCode.usage,
      `${file} is a session log (${format}), which does not tell what task it belongs to.`,
      'Name it: --task PROJECT/SLUG.',
    );
  const taskDir = toTaskDir(task);
  const { dispatchId, records, events, oddities } = await importSessionLog(store, taskDir, file, format);
  for (const { line, message } of oddities) note(context, `${file}:${line}: ${message}`);
  if (json) printJson(context, { file, taskDir, dispatchId, format, records, events, oddities });
  else
    printLine(
      context,
      `${toTaskName(taskDir)} ${dispatchId}: ${format}, records: ${records}, events: ${events}, oddities: ${oddities.length}`,
    );
}
