import { type ClaudeFormatId, type ClaudeLog, openClaudeStream, openClaudeTranscript } from '@hansard/claude';
import type { DispatchStore } from '@hansard/dispatch';
import type { Fidelity } from '@hansard/events';
import { ensureTask } from '../tasks/ensure-task.ts';
import { toTaskDir, toTaskName } from '../tasks/task-name.ts';
import { type CliContext, printJson, printLine } from '../terminal/context.ts';
import type { ImportFile } from './find-import-files.ts';
import type { TakenDispatches } from './identify-log.ts';
import { type FileFormatId, isSessionFormat } from './import-formats.ts';
import { importSessionLog } from './import-session-log.ts';
import { assertRegularFile } from './read-source.ts';
import { recordLog } from './record-log.ts';
import { taskOfLog } from './task-of-log.ts';
import { interrupted, noteRewritten } from './tell-imported.ts';

export interface ImportFileOptions {
  readonly task?: string;
  readonly fidelity?: Fidelity;
  readonly json?: boolean;
  readonly taken: TakenDispatches;
}

/** Imports one file and says what came of it. `onProgress` is told the bytes that were read. */
export async function importFile(
  context: CliContext,
  store: DispatchStore,
  file: ImportFile,
  format: FileFormatId,
  options: ImportFileOptions,
  onProgress: (bytes: number) => void,
): Promise<void> {
  if (isSessionFormat(format)) await importSessionLog(context, store, file.path, format, options);
  else {
    for (const name of [file.path, ...file.subAgents]) assertRegularFile(name);
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
  await ensureTask(context, store, taskDir);
  const { signal } = context;
  const recorded = await recordLog(store, taskDir, log, { fidelity, signal, onProgress });
  const { lines, records, events, counts, diagnostics } = recorded.summary;
  const { added, rewrittenCount } = recorded;
  const [file = ''] = log.files;
  const { dispatchId, format } = log;
  noteRewritten(context, file, recorded);
  if (json) {
    const { files } = log;
    const numbers = { lines, records, events, added, rewritten: rewrittenCount };
    printJson(context, { file, files, taskDir, dispatchId, format, ...numbers, counts, diagnostics });
  } else {
    const there = events - added;
    const odd = Object.entries({ ...counts, ...(rewrittenCount > 0 ? { rewritten: rewrittenCount } : {}) })
      .map(([code, count]) => `${code} ${count}`)
      .join(', ');
    printLine(
      context,
      `${toTaskName(taskDir)} ${dispatchId}: ${format}, lines: ${lines}, events: ${added} new, ${there} there, diagnostics: ${odd || 'none'}`,
    );
  }
  if (signal.aborted) throw interrupted(file);
}
