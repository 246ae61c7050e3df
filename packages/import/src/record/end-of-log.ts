import type { Dispatch, DispatchEnd, DispatchStore, LoggedFacts, WriterOptions } from '@hansard/dispatch';
import {
  BalanceSheet,
  balanceProblem,
  type DispatchEnvelope,
  type DispatchSource,
  type DispatchStatus,
  definedOnly,
  toTimestamp,
} from '@hansard/events';
import { type LogSummary, type OpenLog, storeErrors } from '@hansard/provider';

/**
 * The log of a dispatch, as it was read. Without files, or with events of other copies, no import continues this one, and a
 * dispatch that is not complete is never quiet.
 */
export async function sourceOf(
  log: OpenLog,
  files: DispatchSource['files'],
  dispatch: Dispatch,
  summary?: LogSummary,
): Promise<DispatchSource> {
  const { kept, lastMessage, summarises = [], heads = [], openRewind, balance } = summary ?? {};
  const { titledBy, run, copies, machine, path, gone, checkpoints, repository } =
    dispatch.envelope.source ?? {};
  const events = await dispatch.count();
  const ifQuiet = summary === undefined || files.length === 0 ? undefined : expectedEnd(summary, files);
  return {
    format: log.format,
    files,
    ...(kept === undefined || kept === null || files.length === 0 ? {} : { kept }),
    ...definedOnly({
      ifQuiet,
      titledBy,
      lastMessage: lastMessage ?? undefined,
      openRewind: openRewind ?? undefined,
    }),
    ...(summarises.length === 0 ? {} : { summarises: [...summarises] }),
    ...(heads.length === 0 ? {} : { heads: [...heads] }),
    ...definedOnly({ run, copies, machine, path, gone, checkpoints, repository }),
    events,
    ...definedOnly({ balance }),
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

/** Reports a balance that does not add up, or that an importer does not give: something of the source may be neither recorded nor left out. */
export function withBalance(summary: LogSummary): LogSummary {
  const { balance = new BalanceSheet().balance }: Partial<LogSummary> = summary;
  const problem = summary.balance === undefined ? 'its importer gives none' : balanceProblem(balance);
  if (problem === null) return summary;
  const message = `The balance of the log does not add up: ${problem}.`;
  return {
    ...summary,
    balance,
    diagnostics: [...summary.diagnostics, { code: 'not_balanced', message }],
    counts: { ...summary.counts, not_balanced: 1 },
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

/** A log whose first records have no time or no folder can get one when it grows. */
export function endOf(
  { startedAt, cwd }: Pick<OpenLog, 'startedAt' | 'cwd'>,
  { model, structuredResult, completedAt }: LogSummary,
  before: DispatchEnvelope | null,
): Omit<DispatchEnd, 'status'> {
  const isFirstTime = before?.startedAt === null && startedAt !== null;
  return {
    ...(before?.cwd === null && typeof cwd === 'string' ? { cwd } : {}),
    ...(isFirstTime ? { startedAt: toTimestamp(startedAt) } : {}),
    completedAt: later(before?.completedAt ?? null, completedAt === null ? null : toTimestamp(completedAt)),
    ...definedOnly({ model: model ?? undefined, structuredResult: structuredResult ?? undefined }),
  };
}

/** An import of a shorter copy takes nothing away from the envelope. */
function later(one: string | null, other: string | null): string | null {
  return (one ?? '') > (other ?? '') ? one : other;
}

/** After how much time without a record a log counts as ended, unless the caller says otherwise: an hour, in milliseconds. */
export const defaultQuietAfterMs = 3_600_000;

/** When a log is quiet. */
export interface QuietClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** After how many milliseconds without a record the dispatch of a log without an end has ended. */
  readonly quietAfterMs: number;
}

/** The end of a dispatch whose log is quiet. */
export interface QuietEnd {
  readonly status: Exclude<DispatchStatus, 'running'>;
  /** The time of its last record, or of the last change of its files where no record has a time. */
  readonly since: string;
  /** Whether `since` is the time of a record. */
  readonly isRecorded: boolean;
}

/** How a dispatch ends if nothing follows in its log. Undefined: the log shows its end. */
function expectedEnd(
  { status, statusIfQuiet = 'crashed', lastRecordAt = null, completedAt }: LogSummary,
  files: DispatchSource['files'],
): QuietEnd | undefined {
  if (status !== 'running') return undefined;
  const written = files.map(({ modifiedAt }) => modifiedAt);
  const since = lastRecordAt ?? (written.length === 0 ? completedAt : Math.max(...written));
  if (since === null) return undefined;
  return { status: statusIfQuiet, since: toTimestamp(since), isRecorded: lastRecordAt !== null };
}

/** Whether nothing has followed the last record for long enough. */
function isQuiet({ since }: QuietEnd, { now, quietAfterMs }: QuietClock): boolean {
  return now() - Date.parse(since) > quietAfterMs;
}

/** The fields of an envelope that say how its dispatch has ended. */
function endedBy({ status, since, isRecorded }: QuietEnd): Pick<DispatchEnvelope, 'ended' | 'completedAt'> & {
  readonly status: QuietEnd['status'];
} {
  return { status, completedAt: isRecorded ? since : null, ended: { because: 'quiet', since } };
}

/** Ends an imported dispatch that is `running`, if its log is quiet. Null: it has not. */
export async function endIfQuiet(
  store: DispatchStore,
  taskDir: string,
  { dispatchId, status, source }: DispatchEnvelope,
  clock: QuietClock,
  writer: WriterOptions,
): Promise<QuietEnd | null> {
  const end = source?.ifQuiet;
  if (status !== 'running' || end === undefined || !isQuiet(end, clock)) return null;
  try {
    await using dispatch = await store.openDispatch({ taskDir, dispatchId }, { ...writer, write: true });
    // It may have grown since it was read.
    const { envelope } = dispatch;
    if (envelope.status !== 'running' || envelope.source?.ifQuiet?.since !== end.since) return null;
    await dispatch.end(endedBy(end));
    return end;
  } catch (error) {
    // Another writer continues it, so it is not quiet.
    if (storeErrors.is(error, 'STORE_LOCKED')) return null;
    throw error;
  }
}
