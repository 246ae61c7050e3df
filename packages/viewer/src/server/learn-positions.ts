import { setImmediate } from 'node:timers/promises';
import type { DispatchLog } from '@hansard/dispatch';

/** Events between two positions. A JSON file reads some 10 MB from one to the next. */
const step = 50_000;
/** Reads that fewer than 50 million events need. */
const mostReads = 1_000;

/**
 * Reads events at regular positions, in pauses of other work. A store that finds a position by reading what is before it, such as that
 * of JSON files, then knows where they are before somebody jumps there.
 */
export async function learnPositions(log: DispatchLog, count: number): Promise<void> {
  for (let reads = 1; reads <= mostReads && reads * step < count; reads += 1) {
    for await (const _ of log.pages({ after: reads * step, limit: 1 })) break;
    await setImmediate();
  }
}
