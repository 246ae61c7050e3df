import { setImmediate } from 'node:timers/promises';
import { type Row, type RowConditions, RowQuery } from '@hansard/views';
import type { SSEStreamingApi } from 'hono/streaming';
import type { FoundRows } from '../answers.ts';
import type { OpenDispatch } from './open-dispatches.ts';

/** Milliseconds. What is found within this time shares a message. */
const gatherMs = 50;

/**
 * Sends the positions of the rows that match, in order, while the log is read: messages with positions, then `done` at
 * the end of the log. Ends early when the signal aborts. Other requests are answered between pages.
 */
export async function sendFoundRows(
  stream: SSEStreamingApi,
  { log, rows }: OpenDispatch,
  conditions: RowConditions,
  signal: AbortSignal,
): Promise<void> {
  const query = new RowQuery(conditions);
  const start = rows.startFor(conditions.from ?? 0);
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
  const take = (some: readonly Row[]) => {
    for (const { position } of some) found.push(position);
  };
  try {
    for await (const { events, next } of log.pages({ after: start - 1 })) {
      for (const event of events) {
        reader.add(event);
        take(reader.settled(query));
      }
      scanned = next + 1;
      if (performance.now() - sentAt >= gatherMs) await send('message');
      await setImmediate();
      if (signal.aborted) return;
    }
    take(reader.end(query));
    await send('done');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await stream.writeSSE({ event: 'failed', data: JSON.stringify({ message }) });
  }
}
