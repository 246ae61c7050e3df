import type { DispatchStore, WriterOptions } from '@hansard/dispatch';
import type { DispatchEnvelope, DispatchSource, DispatchStatus } from '@hansard/events';
import { toTimestamp } from '@hansard/events';
import { type LogSummary, storeErrors } from '@hansard/provider';

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
export function expectedEnd(
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
export function isQuiet({ since }: QuietEnd, { now, quietAfterMs }: QuietClock): boolean {
  return now() - Date.parse(since) > quietAfterMs;
}

/** The fields of an envelope that say how its dispatch has ended. */
export function endedBy({ status, since, isRecorded }: QuietEnd): Pick<
  DispatchEnvelope,
  'ended' | 'completedAt'
> & {
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
