import type { DispatchStore } from '@hansard/dispatch';
import { type SessionFormatId, sessionFormats } from '@hansard/formats';
import { ensureTask } from '../tasks/ensure-task.ts';
import { toTaskDir, toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';
import { identifyLog, type TakenDispatches, takeDispatch } from './identify-log.ts';
import { readSource } from './read-source.ts';
import { recordEvents } from './record-events.ts';
import { diagnosticCounts, eventCounts, interrupted, noteRewritten } from './tell-imported.ts';

export interface ImportSessionOptions {
  readonly task?: string;
  readonly json?: boolean;
  readonly taken: TakenDispatches;
}

/** Brings a session log into its dispatch, and says what came of it. */
export async function importSessionLog(
  context: CliContext,
  store: DispatchStore,
  file: string,
  format: SessionFormatId,
  { task, json, taken }: ImportSessionOptions,
): Promise<void> {
  if (task === undefined)
    throw new CliError(
      exitCode.usage,
      `${file} is a session log (${format}), which does not tell what task it belongs to.`,
      'Name it: --task PROJECT/SLUG.',
    );
  const taskDir = toTaskDir(task);
  const source = readSource(file);
  const read = (now: number) => sessionFormats[format].read(source, { file, now: () => now });
  const first = read(Date.now());
  const dispatchId = identifyLog(format, first.origin);
  takeDispatch(taken, taskDir, dispatchId, first.origin);
  const existing = await store.getDispatchEnvelope(taskDir, dispatchId);
  // Records have no times: all have that of the first import.
  const { events, report } = existing === null ? first : read(Date.parse(existing.startedAt));
  await ensureTask(context, store, taskDir);
  const log = { dispatchId, role: 'imported', events, isComplete: true };
  const recorded = await recordEvents(store, taskDir, log, context.signal);
  const { added, rewrittenCount, notInLog } = recorded;
  const { records, diagnostics } = report;
  for (const { line, message } of diagnostics) note(context, `${file}:${line}: ${message}`);
  noteRewritten(context, file, recorded, first.origin);
  if (json) {
    const numbers = { records, events: events.length, added, rewritten: rewrittenCount, notInLog };
    printJson(context, { file, taskDir, dispatchId, format, ...numbers, diagnostics });
  } else
    printLine(
      context,
      `${toTaskName(taskDir)} ${dispatchId}: ${format}, records: ${records}, events: ${eventCounts(events.length, recorded)}, diagnostics: ${diagnosticCounts(diagnostics, rewrittenCount)}`,
    );
  if (context.signal.aborted) throw interrupted(file);
}
