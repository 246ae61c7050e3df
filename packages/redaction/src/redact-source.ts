import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type RedactionCounts,
  redactionsOf,
  type TaskSource,
} from '@hansard/events';
import type { Redactor } from './create-redactor.ts';

/**
 * The source of an export without the secrets that its log still has, such as those recorded before a pattern was
 * configured.
 */
export function redactSource(
  source: TaskSource,
  redactor: Redactor,
): {
  readonly source: TaskSource;
  /** Secrets by their kind. An event that is read several times counts once. */
  counts(): RedactionCounts;
} {
  const ofRecords: Record<string, number> = {};
  /** Of each dispatch the counts of the longest reading. */
  const ofEvents = new Map<string, RedactionCounts>();
  const envelope = (one: DispatchEnvelope): DispatchEnvelope => redactor.envelope(one).value;
  const envelopes = source.envelopes.map((one) => {
    const { value, counts } = redactor.envelope(one);
    addRedactions(ofRecords, counts);
    return value;
  });
  const task = source.task === null ? null : redactor.task(source.task);
  if (task !== null) addRedactions(ofRecords, task.counts);

  /** Not a generator: one around that of the source takes a fourth of the time of the search (decision 0016). */
  const readEvents = (dispatchId: string): AsyncIterable<CapturedEvent> => ({
    [Symbol.asyncIterator]() {
      const events = source.readEvents(dispatchId)[Symbol.asyncIterator]();
      const counts: Record<string, number> = {};
      const redact = (step: IteratorResult<CapturedEvent>): IteratorResult<CapturedEvent> => {
        if (step.done === true) return step;
        const redacted = redactor.event(step.value);
        if (redacted === step.value) return step;
        addRedactions(counts, redactionsOf(redacted.data), redactionsOf(step.value.data));
        if (sumOf(counts) > sumOf(ofEvents.get(dispatchId))) ofEvents.set(dispatchId, counts);
        return { done: false, value: redacted };
      };
      return {
        next: () => events.next().then(redact),
        async return() {
          await events.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  });

  return {
    source: {
      ...source,
      task: task?.value ?? null,
      envelopes,
      ...(source.relatives === undefined ? {} : { relatives: source.relatives.map(envelope) }),
      readEvents,
    },
    counts() {
      const sums = { ...ofRecords };
      for (const counts of ofEvents.values()) addRedactions(sums, counts);
      return sums;
    },
  };
}

function sumOf(counts: RedactionCounts = {}): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
