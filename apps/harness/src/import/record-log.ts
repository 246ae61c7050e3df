import type { ClaudeLog, ClaudeLogSummary } from '@hansard/claude';
import type { DispatchEnd, DispatchStore, NewDispatch } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type Fidelity, toTimestamp } from '@hansard/events';
import { DispatchTotals } from '@hansard/views';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { appendEvents } from './append-events.ts';
import { largestTotals } from './largest-totals.ts';

export interface RecordLogOptions {
  readonly fidelity?: Fidelity | undefined;
  /** Ends the import after a batch; the dispatch is `aborted` then, until another import completes it. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
}

export interface RecordedLog {
  readonly summary: ClaudeLogSummary;
  /** How many events are new in the store. */
  readonly added: number;
  /** Events that the store holds otherwise, under the id of the file's: they were added under another one. */
  readonly rewritten: readonly string[];
  readonly rewrittenCount: number;
}

const mostNamed = 20;
const holder = 'an import';

/** Brings a log into its dispatch. What is there already stays as it is, so a log that has grown is brought up to date. */
export async function recordLog(
  store: DispatchStore,
  taskDir: string,
  log: ClaudeLog,
  { fidelity, signal = new AbortController().signal, onProgress }: RecordLogOptions = {},
): Promise<RecordedLog> {
  const { dispatchId } = log;
  const existing = await store.getDispatchEnvelope(taskDir, dispatchId);
  if (existing !== null && fidelity !== undefined && existing.fidelity !== fidelity)
    throw otherFidelity(log, existing.fidelity);
  const kept = fidelity ?? existing?.fidelity ?? 'full';
  await using dispatch =
    existing === null
      ? await store.beginDispatch(taskDir, newDispatch(log, kept), { holder })
      : await store.openDispatch(taskDir, dispatchId, { write: true, holder });
  const before = existing === null ? null : await dispatch.count();
  const startsAt = Date.parse(existing?.startedAt ?? toTimestamp(log.startedAt));
  const rewritten = new Set<string>();
  let rewrittenCount = 0;
  let appended = 0;
  const totals = new DispatchTotals();
  const options = { fidelity: kept, startsAt, signal, ...definedOnly({ onProgress }) };
  try {
    for await (const events of log.read(options)) {
      if (signal.aborted) break;
      await appendEvents(dispatch, events, (id) => {
        rewrittenCount += 1;
        if (rewritten.size < mostNamed) rewritten.add(id);
      });
      appended += events.length;
      for (const event of events) totals.observe(event);
    }
  } catch (error) {
    await dispatch.end(updatesOf({ ...log.summary(), status: 'aborted' }, totals, existing));
    throw error;
  }
  const summary = log.summary();
  // The events of a log have ids of their own, so of a new dispatch nobody has to count them.
  const added = before === null ? appended : (await dispatch.count()) - before;
  if (signal.aborted) {
    await dispatch.end(updatesOf({ ...summary, status: 'aborted' }, totals, existing));
  } else if (!isOlderCopy(existing, before, summary, added)) {
    await dispatch.end(updatesOf(summary, summary, existing));
  }
  return { summary, added, rewritten: [...rewritten], rewrittenCount };
}

function newDispatch({ dispatchId, startedAt, cwd }: ClaudeLog, fidelity: Fidelity): NewDispatch {
  return { dispatchId, role: 'imported', startedAt: toTimestamp(startedAt), cwd, fidelity };
}

/** Whether the store has all of the log and more: what the log says of its end is not the last word then. */
function isOlderCopy(
  existing: DispatchEnvelope | null,
  before: number | null,
  { events }: ClaudeLogSummary,
  added: number,
): boolean {
  return existing !== null && existing.status !== 'running' && added === 0 && (before ?? 0) > events;
}

/** `totals`: those of the whole log, or of the part of it that is in the store. */
function updatesOf(
  { status, model, structuredResult, completedAt }: ClaudeLogSummary,
  totals: Pick<DispatchTotals, 'usage' | 'costUsd'>,
  before: DispatchEnvelope | null,
): DispatchEnd {
  return {
    status,
    completedAt: later(before?.completedAt ?? '', toTimestamp(completedAt)),
    ...largestTotals(before, totals),
    ...definedOnly({ model: model ?? undefined, structuredResult: structuredResult ?? undefined }),
  };
}

/** An import that came less far than the one before takes nothing away from what that one found. */
function later(one: string, other: string): string {
  return one > other ? one : other;
}

function otherFidelity({ files, dispatchId }: ClaudeLog, fidelity: Fidelity): CliError {
  return new CliError(
    exitCode.usage,
    `${files[0]} was imported as ${dispatchId} with the fidelity ${fidelity}, which a dispatch keeps.`,
    `Leave --fidelity out, or import it into another task (--task).`,
  );
}
