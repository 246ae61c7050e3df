import type { StreamItem } from './dispatch-stream.ts';

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
