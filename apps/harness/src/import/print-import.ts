import type { ImportReport } from '@hansard/import';
import { noteTaskProblem } from '../tasks/ensure-task.ts';
import { toTaskName } from '../tasks/task-name.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';

/** Prints one dispatch that was imported, and notes what was unusual about it. */
export function printImport(context: CliContext, report: ImportReport, json: boolean): void {
  const { taskDir, dispatchId, format, taskProblem } = report;
  if (taskProblem !== undefined) noteTaskProblem(context, taskProblem);
  noteDiagnostics(context, report);
  if (json) printJson(context, documentOf(report));
  else {
    const counts = {
      ...report.counts,
      ...(report.rewrittenCount > 0 ? { rewritten: report.rewrittenCount } : {}),
    };
    const diagnostics = Object.entries(counts).map(([code, count]) => `${code} ${count}`);
    printLine(
      context,
      `${toTaskName(taskDir)} ${dispatchId}: ${format}, ${recordsOf(report)}, events: ${eventsOf(report)}, diagnostics: ${diagnostics.join(', ') || 'none'}`,
    );
  }
}

/** Of logs with many lines, the diagnostics are in the JSON only. */
function noteDiagnostics(
  context: CliContext,
  { files, lines, diagnostics, rewritten, isIdentifiedByPlace }: ImportReport,
): void {
  const name = lines === undefined ? files.join(', ') : (files[0] ?? '');
  if (lines === undefined)
    for (const { file = name, line, message } of diagnostics) note(context, `${file}:${line}: ${message}`);
  for (const id of rewritten)
    note(context, `${name}: the event ${id} was imported with other content before; both are kept.`);
  if (rewritten.length > 0 && isIdentifiedByPlace)
    note(context, `${name}: if it is another log than the one before, import it into a task of its own.`);
}

function recordsOf({ role, number, of, lines, records }: ImportReport): string {
  if (lines !== undefined) return `lines: ${lines}`;
  return role === 'game' ? `game ${number} of ${of}, records: ${records}` : `records: ${records}`;
}

function eventsOf({ events, added, lines, notInLog }: ImportReport): string {
  const more = lines !== undefined || (notInLog ?? 0) === 0 ? '' : `, ${notInLog} not in the file`;
  return `${added} new, ${events - added} there${more}`;
}

function documentOf(report: ImportReport): object {
  const { files, taskDir, dispatchId, format, lines, records, events, added, notInLog, counts, diagnostics } =
    report;
  const rewritten = report.rewrittenCount;
  const [file] = files;
  if (lines !== undefined) {
    const numbers = { lines, records, events, added, rewritten };
    return { file, files, taskDir, dispatchId, format, ...numbers, counts, diagnostics };
  }
  const numbers = { records, events, added, rewritten, notInLog };
  return report.role === 'game'
    ? { files, taskDir, dispatchId, format, game: report.number, ...numbers, diagnostics }
    : { file, taskDir, dispatchId, format, ...numbers, diagnostics };
}
