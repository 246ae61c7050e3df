import type { FormatDiagnostic, LogOrigin } from '@hansard/formats';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { isVague } from './identify-log.ts';
import type { RecordedEvents } from './record-events.ts';

/** What became of the events of a log, in words. */
export function eventCounts(events: number, { added, notInLog }: RecordedEvents): string {
  const more = notInLog === 0 ? '' : `, ${notInLog} not in the file`;
  return `${added} new, ${events - added} there${more}`;
}

/** How often each diagnostic was found, in words. */
export function diagnosticCounts(
  diagnostics: readonly Pick<FormatDiagnostic, 'code'>[],
  rewritten: number,
): string {
  const counts = new Map<string, number>();
  for (const { code } of diagnostics) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (rewritten > 0) counts.set('rewritten', rewritten);
  return [...counts].map(([code, count]) => `${code} ${count}`).join(', ') || 'none';
}

/** Says which events of a file the log holds otherwise. */
export function noteRewritten(
  context: CliContext,
  file: string,
  { rewritten }: Pick<RecordedEvents, 'rewritten'>,
  origin?: LogOrigin,
): void {
  for (const id of rewritten)
    note(context, `${file}: the event ${id} was imported with other content before; both are kept.`);
  if (rewritten.length > 0 && origin !== undefined && isVague(origin))
    note(context, `${file}: if it is another log than the one before, import it into a task of its own.`);
}

export function interrupted(file: string): CliError {
  return new CliError(
    exitCode.failed,
    `${file} was imported in part: the import was interrupted.`,
    'What was recorded is safe; import it again to complete it.',
  );
}
