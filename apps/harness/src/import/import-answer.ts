import { relative, sep } from 'node:path';
import { toTaskName } from '@hansard/compose';
import { formatBytes } from '@hansard/events/plain';
import { formatCount, shortId } from '@hansard/facts';
import type { ImportReport, LeftOutLogs, UnchangedLog, UnreadFiles } from '@hansard/import';
import { noteTaskProblem } from '../tasks/ensure-task.ts';
import { type CliContext, note } from '../terminal/context.ts';

/** Prints the problems of one imported dispatch on standard error. */
export function noteImport(context: CliContext, report: ImportReport): void {
  if (report.taskProblem !== undefined) noteTaskProblem(context, report.taskProblem);
  noteDiagnostics(context, report);
}

/** The diagnostics of a log that is read line by line can be many: they are only in the JSON. */
function noteDiagnostics(
  context: CliContext,
  { files, lines, diagnostics, rewritten, redactedCount, isIdentifiedByPlace }: ImportReport,
): void {
  const name = lines === undefined ? files.join(', ') : (files[0] ?? '');
  if (lines === undefined)
    for (const { file = name, line, message } of diagnostics) note(context, `${file}:${line}: ${message}`);
  for (const id of rewritten)
    note(context, `${name}: an earlier import of the event ${id} has other content; the store keeps both.`);
  if (redactedCount > 0)
    note(
      context,
      `${name}: events that were redacted in the store stay as they are there: ${redactedCount}.`,
    );
  if (rewritten.length > 0 && isIdentifiedByPlace)
    note(context, `${name}: if this is a different log, import it into another task (--task).`);
}

/** The line of text of one imported dispatch. */
export function importLine(report: ImportReport | UnchangedLog): string {
  if (report.kind === 'unchanged')
    return `${toTaskName(report.taskDir)} ${shortId(report.dispatchId)}: ${report.format}, unchanged since its last import${endOf(report)}`;
  const { taskDir, counts, rewrittenCount: rewritten, redactedCount: redacted } = report;
  const all = { ...counts, ...(rewritten > 0 && { rewritten }), ...(redacted > 0 && { redacted }) };
  const diagnostics = Object.entries(all).map(([code, count]) => `${code} ${count}`);
  return [
    `${toTaskName(taskDir)} ${shortId(report.dispatchId)}: ${report.format}`,
    recordsOf(report),
    `events: ${eventsOf(report)}`,
    ...(diagnostics.length === 0 ? [] : [`diagnostics: ${diagnostics.join(', ')}`]),
    ...leftOutOf(report),
  ].join(', ');
}

/** What the store does not have of a log, by reason. Blank lines are in the JSON only. */
function leftOutOf({ balance: { records, bytes, files } }: ImportReport): string[] {
  const reasons = new Set([bytes, records, files].flatMap(({ leftOut }) => Object.keys(leftOut)));
  reasons.delete('blank');
  const parts = [...reasons].map((reason) => {
    const units = [
      ...countOf(records.leftOut[reason], 'record'),
      ...countOf(files.leftOut[reason], 'file'),
      ...countOf(bytes.leftOut[reason], 'byte'),
    ];
    return `${units.join(', ')} (${reason.replaceAll('_', ' ')})`;
  });
  return parts.length === 0 ? [] : [`left out: ${parts.join(', ')}`];
}

function countOf(count: number | undefined, unit: string): string[] {
  return count === undefined ? [] : [formatCount(count, unit)];
}

/** How the import ended a dispatch whose log is quiet. */
function endOf({ quietEnd }: UnchangedLog): string {
  return quietEnd === null ? '' : `, ended as ${quietEnd.status}: no record since ${quietEnd.since}`;
}

const whyLeftOut = {
  since: 'they have not changed since that time (--since)',
  project: 'they are of no such project, or name none (--project)',
  exclude: 'their paths are excluded (--exclude)',
  busy: 'another process is writing them, such as an import of the same files',
  'unsafe-name': 'their names cannot be file names',
  captured: 'runs of this store have recorded them',
  excluded: 'they were deleted from this store; --again imports them',
} as const;

export function leftOutLine({ reason, paths }: LeftOutLogs): string {
  return `${formatCount(paths.length, 'session')} left out: ${whyLeftOut[reason]}.`;
}

/** A path below the home folder as people write it. */
export function nameFolder(folder: string, home: string): string {
  const path = relative(home, folder);
  return path.startsWith('..') || path === '' ? folder : `~${sep}${path}`;
}

/** What is beside the transcripts and is not read. */
export function unreadLine(unread: UnreadFiles, home: string): string {
  const { title, path, files, bytes, sessions, ofNoSession } = unread;
  const size = `${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
  return `not read: ${nameFolder(path, home)} (${title}): ${size}${ownersOf(path, sessions, ofNoSession)}.`;
}

function ownersOf(path: string, sessions: number | null, others: UnreadFiles['ofNoSession']): string {
  if (sessions === null || others === null) return '; their names do not name a session';
  const owned = sessions === 0 ? '' : `, of ${formatCount(sessions, 'session')}`;
  const [first] = others.paths;
  if (first === undefined) return owned;
  const name = relative(path, first) || first;
  const more = others.files === 1 ? name : `${name} and ${others.files - 1} more`;
  return `${owned}; of no session that was found: ${more}`;
}

/** The JSON row of what is not read. */
export function unreadRow({ kind: _, what, ...facts }: UnreadFiles): object {
  return { notRead: what, ...facts };
}

function recordsOf({ role, number, of, lines, records }: ImportReport): string {
  if (lines !== undefined) return `lines: ${lines}`;
  return role === 'game' ? `game ${number} of ${of}, records: ${records}` : `records: ${records}`;
}

function eventsOf({ events, added, lines, notInLog }: ImportReport): string {
  const more = lines !== undefined || (notInLog ?? 0) === 0 ? '' : `, ${notInLog} not in the file`;
  const known = events === added ? '' : `, ${events - added} already imported`;
  return `${added} new${known}${more}`;
}

/** The columns of a JSON row: of a log that is read line by line, of a game, and of a session. */
const columns = {
  lines: ['file', 'files', 'taskDir', 'dispatchId', 'format', 'lines', 'records', 'events', 'added'],
  game: ['files', 'taskDir', 'dispatchId', 'format', 'game', 'records', 'events', 'added'],
  session: ['file', 'taskDir', 'dispatchId', 'format', 'records', 'events', 'added'],
} as const;
const lastColumns = {
  lines: ['rewritten', 'counts', 'balance', 'diagnostics'],
  game: ['rewritten', 'notInLog', 'balance', 'diagnostics'],
  session: ['rewritten', 'notInLog', 'balance', 'diagnostics'],
} as const;

const columnsOfUnchanged = [
  'file',
  'files',
  'taskDir',
  'dispatchId',
  'format',
  'added',
  'unchanged',
  'quietEnd',
] as const;

/** The JSON row of one dispatch. */
export function importRow(report: ImportReport | UnchangedLog): object {
  const [file] = report.files;
  if (report.kind === 'unchanged')
    return pick({ ...report, file, added: 0, unchanged: true }, columnsOfUnchanged);
  const kind = report.lines !== undefined ? 'lines' : report.role === 'game' ? 'game' : 'session';
  const { number: game, rewrittenCount: rewritten, redactedCount: redacted } = report;
  const last = redacted > 0 ? (['redacted', ...lastColumns[kind]] as const) : lastColumns[kind];
  return pick({ ...report, file, game, rewritten, redacted }, [...columns[kind], ...last]);
}

function pick<Row extends object>(row: Row, keys: readonly (keyof Row)[]): object {
  return Object.fromEntries(keys.map((key) => [key, row[key]]));
}
