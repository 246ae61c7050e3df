import type { Delta } from '@hansard/events';
import type { Awaitable } from '@hansard/provider';
import type { DispatchStream, StreamedEvent, StreamItem } from './dispatch-stream.ts';
import { describeStreamProblem, type StreamProblem } from './stream-problem.ts';

export interface StreamHandlers {
  event(streamed: StreamedEvent): Awaitable<void>;
  /** Absent: deltas are not listened to. */
  delta?(delta: Delta): Awaitable<void>;
}

export interface HandleStreamOptions {
  /** Absent: a warning of the process (`process.emitWarning`). */
  readonly onProblem?: (problem: StreamProblem) => void;
  /** Ends the handling, also where a handler never comes back. */
  readonly signal?: AbortSignal;
}

/**
 * Calls handlers for what a stream gives, one call after the other. What a handler throws is told to `onProblem`, and
 * the stream goes on; one that takes its time is behind, while the dispatch goes on: events wait in the store, deltas
 * in the bounded queue of the stream, where what is left out is counted. Resolves at the end of the stream.
 *
 * @throws what the stream throws while iterating
 */
export async function handleStream(
  stream: DispatchStream,
  handlers: StreamHandlers,
  { onProblem = warn, signal }: HandleStreamOptions = {},
): Promise<void> {
  // In a turn of its own: what `onProblem` throws must not end the stream.
  const report = (problem: StreamProblem) => queueMicrotask(() => onProblem(problem));
  const handle = async (item: StreamItem) => {
    try {
      if (item.kind === 'event') await handlers.event(item);
      else if (item.kind === 'delta') await handlers.delta?.(item.delta);
      else report(item);
    } catch (error) {
      if (item.kind !== 'deltas_dropped') report({ kind: 'handler_failed', item, error });
    }
  };
  const items: AsyncIterable<StreamItem> = handlers.delta === undefined ? stream : stream.withDeltas();
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(signal, iterator.next());
      if (next === null || next.done === true) return;
      await unlessAborted(signal, handle(next.value));
    }
  } finally {
    await iterator.return?.();
  }
}

/** What a promise gives, or null as soon as the signal aborts. */
function unlessAborted<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T | null> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function warn(problem: StreamProblem): void {
  process.emitWarning(describeStreamProblem(problem), { type: 'HansardStreamWarning' });
}
