import type { Delta } from '@hansard/events';
import type { Awaitable } from '@hansard/provider';
import { warn } from '../host.ts';
import type { DispatchStream, StreamedEvent, StreamItem } from './dispatch-stream.ts';

export interface StreamHandlers {
  event(streamed: StreamedEvent): Awaitable<void>;
  /** Absent: deltas are ignored. */
  delta?(delta: Delta): Awaitable<void>;
}

export interface HandleStreamOptions {
  /** Absent: a warning of the process (`process.emitWarning`). */
  readonly onProblem?: (problem: StreamProblem) => void;
  /** Ends the handling, even if a handler never returns. */
  readonly signal?: AbortSignal;
}

/**
 * Calls a handler for each item of a stream, one call after the other. An error of a handler is passed to `onProblem`, and
 * the stream continues. A slow handler does not delay the dispatch: events wait in the store, deltas in the bounded queue of
 * the stream, which counts those that it drops. Resolves at the end of the stream.
 *
 * @throws the errors of the stream while iterating
 */
export async function handleStream(
  stream: DispatchStream,
  handlers: StreamHandlers,
  { onProblem = warnOf, signal }: HandleStreamOptions = {},
): Promise<void> {
  // In a microtask of its own: an error of `onProblem` must not end the stream.
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

/** The value of a promise, or null as soon as the signal aborts. */
function unlessAborted<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T | null> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function warnOf(problem: StreamProblem): void {
  warn(describeStreamProblem(problem), { type: 'HansardStreamWarning' });
}

/** A problem with the handling of a stream. The stream and its dispatch continue. */
export type StreamProblem =
  | {
      readonly kind: 'handler_failed';
      /** The item that the handler was called with. */
      readonly item: Exclude<StreamItem, { kind: 'deltas_dropped' }>;
      readonly error: unknown;
    }
  /** The handler of deltas is so slow that some deltas never reached it. */
  | { readonly kind: 'deltas_dropped'; readonly count: number };

/** The problem in one sentence. */
export function describeStreamProblem(problem: StreamProblem): string {
  if (problem.kind === 'deltas_dropped')
    return `A stream handler is behind: ${problem.count} deltas were left out. Events are not: they come from the log.`;
  const { item, error } = problem;
  const what = item.kind === 'delta' ? item.delta.type : `${item.event.type} at position ${item.position}`;
  return `A stream handler threw for ${what}: ${String(error)}`;
}
