import type { Dispatch, DispatchEnd, LoggedFacts } from '@hansard/dispatch';
import {
  type DispatchEnvelope,
  type DispatchSource,
  type DispatchStatus,
  definedOnly,
  toTimestamp,
} from '@hansard/events';
import type { LogSummary, OpenLog } from '@hansard/provider';
import { endedBy, expectedEnd, isQuiet, type QuietClock } from './quiet-log.ts';

/**
 * The log of a dispatch, as it was read. Without files, or with events of other copies, no import continues this one, and a
 * dispatch that is not complete is never quiet.
 */
export function sourceOf(
  log: OpenLog,
  files: DispatchSource['files'],
  before: DispatchEnvelope | null,
  summary?: LogSummary,
): DispatchSource {
  const { kept, lastMessage, summarises = [] } = summary ?? {};
  const { titledBy } = before?.source ?? {};
  const ifQuiet = summary === undefined || files.length === 0 ? undefined : expectedEnd(summary, files);
  return {
    format: log.format,
    files,
    ...(kept === undefined || kept === null || files.length === 0 ? {} : { kept }),
    ...definedOnly({ ifQuiet, titledBy, lastMessage: lastMessage ?? undefined }),
    ...(summarises.length === 0 ? {} : { summarises: [...summarises] }),
  };
}

/** Reports the sums that are too large for the envelope. The events have the figures of the log. */
export function withTooLarge(summary: LogSummary, { atLimit }: LoggedFacts): LogSummary {
  if (atLimit.length === 0) return summary;
  const message = `The log has more ${atLimit.join(', ')} than the envelope can have; the envelope has the largest number.`;
  return {
    ...summary,
    diagnostics: [...summary.diagnostics, { code: 'total_too_large', message }],
    counts: { ...summary.counts, total_too_large: 1 },
  };
}

/**
 * Writes the end of a log. A session without an end whose log is quiet has ended; any other is released without an end,
 * because its next records may come at any time.
 */
export async function leave(
  dispatch: Dispatch,
  status: DispatchStatus,
  { completedAt, ...updates }: Omit<DispatchEnd, 'status'>,
  clock: QuietClock,
): Promise<void> {
  if (status !== 'running') {
    await dispatch.end({ ...updates, ...definedOnly({ completedAt }), status, ended: null });
    return;
  }
  const end = updates.source?.ifQuiet;
  if (end !== undefined && isQuiet(end, clock)) {
    await dispatch.end({ ...updates, ...endedBy(end) });
    return;
  }
  await dispatch.update({ ...updates, status, completedAt: null, ended: null });
  await dispatch.release();
}

/** A log whose first records have no time can get one when it grows. */
export function endOf(
  { startedAt }: Pick<OpenLog, 'startedAt'>,
  { model, structuredResult, completedAt }: LogSummary,
  before: DispatchEnvelope | null,
): Omit<DispatchEnd, 'status'> {
  const isFirstTime = before?.startedAt === null && startedAt !== null;
  return {
    ...(isFirstTime ? { startedAt: toTimestamp(startedAt) } : {}),
    completedAt: later(before?.completedAt ?? null, completedAt === null ? null : toTimestamp(completedAt)),
    ...definedOnly({ model: model ?? undefined, structuredResult: structuredResult ?? undefined }),
  };
}

/** An import of a shorter copy takes nothing away from the envelope. */
function later(one: string | null, other: string | null): string | null {
  return (one ?? '') > (other ?? '') ? one : other;
}
