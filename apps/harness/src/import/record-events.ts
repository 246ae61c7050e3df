import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, toTimestamp } from '@hansard/events';
import { appendEvents, isRewritten } from './append-events.ts';

/** A log, or a game of one, that was read as a whole. */
export interface EventLog {
  readonly dispatchId: string;
  readonly role: string;
  readonly events: readonly CapturedEvent[];
  /** Whether the log says that it ended; one that does not was cut short. */
  readonly isComplete: boolean;
}

export interface RecordedEvents {
  /** How many events are new in the store. */
  readonly added: number;
  /** Events that the store holds otherwise, under the id that they have in the log: the first few. */
  readonly rewritten: readonly string[];
  readonly rewrittenCount: number;
  /** How many events the store has of the dispatch that the log does not have, or not any more. */
  readonly notInLog: number;
}

const mostNamed = 20;
const batchSize = 1_000;
const holder = 'an import';

/**
 * Brings the events of a log into its dispatch. What is there already stays as it is, so a log that has grown is brought
 * up to date. After `signal` the dispatch is `aborted`, until another import completes it.
 */
export async function recordEvents(
  store: DispatchStore,
  taskDir: string,
  { dispatchId, role, events, isComplete }: EventLog,
  signal: AbortSignal,
): Promise<RecordedEvents> {
  const startedAt = events[0]?.timestamp ?? toTimestamp(Date.now());
  const existing = await store.getDispatchEnvelope(taskDir, dispatchId);
  const before = existing === null ? [] : await store.getDispatchEvents(taskDir, dispatchId);
  await using dispatch =
    existing === null
      ? await store.beginDispatch(taskDir, { dispatchId, role, startedAt, fidelity: 'full' }, { holder })
      : await store.openDispatch(taskDir, dispatchId, { write: true, holder });
  const rewritten = new Set<string>();
  let rewrittenCount = 0;
  try {
    for (let at = 0; at < events.length && !signal.aborted; at += batchSize) {
      await appendEvents(dispatch, events.slice(at, at + batchSize), (id) => {
        rewrittenCount += 1;
        if (rewritten.size < mostNamed) rewritten.add(id);
      });
    }
  } catch (error) {
    await dispatch.end({ status: 'aborted', completedAt: startedAt });
    throw error;
  }
  const added = (await dispatch.count()) - before.length;
  const ids = new Set(events.map(({ id }) => id));
  const notInLog = before.filter(({ id }) => !ids.has(id) && !isRewritten(id)).length;
  // Of a dispatch that has gone on elsewhere, or further than this copy, nothing is taken back.
  if (added > 0 || notInLog === 0) {
    await dispatch.end({
      status: isComplete && !signal.aborted ? 'completed' : 'aborted',
      completedAt: latest(events.at(-1)?.timestamp ?? startedAt, existing),
    });
  }
  return { added, rewritten: [...rewritten], rewrittenCount, notInLog };
}

function latest(completedAt: string, existing: DispatchEnvelope | null): string {
  const before = existing?.completedAt ?? '';
  return before > completedAt ? before : completedAt;
}
