import { setImmediate } from 'node:timers/promises';
import type { DispatchLog } from '@hansard/dispatch';
import { type Row, type RowKind, rowText } from '@hansard/views';
import type { SSEStreamingApi } from 'hono/streaming';
import type { FoundRows } from '../answers.ts';
import type { LogRows } from './log-rows.ts';

/** The rows that are wanted. An absent condition holds for every row. */
export interface RowQuery {
  /** Part of the text that the row shows, in any case. */
  readonly text?: string | undefined;
  readonly agentId?: string | undefined;
  readonly kind?: RowKind | undefined;
  readonly failed?: boolean;
  /** The first position. Absent: 0. */
  readonly from?: number;
}

/** Milliseconds. What is found within this time shares a message. */
const gatherMs = 50;

/** Whether a row is wanted. */
function rowFilter({ text = '', agentId, kind, failed = false }: RowQuery): (row: Row) => boolean {
  const wanted = text.toLowerCase();
  return (row) =>
    (!failed || row.isFailed) &&
    (kind === undefined || row.kind === kind) &&
    (agentId === undefined || row.agent.agentId === agentId) &&
    (wanted === '' || rowText(row).toLowerCase().includes(wanted));
}

/**
 * Sends the positions of the rows that match, in order, while the log is read: messages with positions, then `done` at
 * the end of the log. Ends early when the signal aborts. Other requests are answered between pages.
 */
export async function sendFoundRows(
  stream: SSEStreamingApi,
  { log, rows }: { readonly log: DispatchLog; readonly rows: LogRows },
  query: RowQuery,
  signal: AbortSignal,
): Promise<void> {
  const matches = rowFilter(query);
  const { from = 0 } = query;
  const start = rows.startFor(from);
  const reader = await rows.reader(start);
  let found: number[] = [];
  let scanned = start;
  let sentAt = performance.now();
  const send = async (event: 'message' | 'done') => {
    const data = JSON.stringify({ positions: found, scanned } satisfies FoundRows);
    found = [];
    sentAt = performance.now();
    await stream.writeSSE(event === 'done' ? { event, data } : { data });
  };
  const take = (settled: readonly Row[]) => {
    for (const row of settled) if (row.position >= from && matches(row)) found.push(row.position);
  };
  try {
    for await (const { events, next } of log.pages({ after: start - 1 })) {
      for (const event of events) {
        reader.add(event);
        take(reader.settled());
      }
      scanned = next + 1;
      if (performance.now() - sentAt >= gatherMs) await send('message');
      await setImmediate();
      if (signal.aborted) return;
    }
    take(reader.end());
    await send('done');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await stream.writeSSE({ event: 'failed', data: JSON.stringify({ message }) });
  }
}
