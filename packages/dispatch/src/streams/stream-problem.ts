import type { StreamItem } from './dispatch-stream.ts';

/** What went wrong with the handling of a stream. The stream goes on, and so does its dispatch. */
export type StreamProblem =
  | {
      readonly kind: 'handler_failed';
      /** What the handler was called for. */
      readonly item: Exclude<StreamItem, { kind: 'deltas_dropped' }>;
      readonly error: unknown;
    }
  /** The handler of deltas is so far behind that some never reached it. */
  | { readonly kind: 'deltas_dropped'; readonly count: number };

/** The problem in one sentence. */
export function describeStreamProblem(problem: StreamProblem): string {
  if (problem.kind === 'deltas_dropped')
    return `A stream handler is behind: ${problem.count} deltas were left out. Events are not: they come from the log.`;
  const { item, error } = problem;
  const what = item.kind === 'delta' ? item.delta.type : `${item.event.type} at position ${item.position}`;
  return `A stream handler threw for ${what}: ${String(error)}`;
}
