import type { CommunicationProvider } from '@hansard/provider';

/** What went wrong between a dispatch and those who watch it. The dispatch itself goes on. */
export type CommunicationProblem =
  /** A method of the provider threw. One whose `start` threw gets nothing more. */
  | {
      readonly kind: 'call_failed';
      readonly provider: CommunicationProvider;
      readonly method: keyof CommunicationProvider;
      readonly error: unknown;
    }
  /**
   * The provider is so far behind that notices were left out: deltas first, then the oldest events, at last starts and
   * ends of dispatches, which count among the events.
   */
  | {
      readonly kind: 'dropped';
      readonly provider: CommunicationProvider;
      readonly events: number;
      readonly deltas: number;
    }
  /** The provider was still behind when the hub was closed; so many notices never reached it. */
  | { readonly kind: 'not_drained'; readonly provider: CommunicationProvider; readonly waiting: number };

/** The problem in one sentence. */
export function describeCommunicationProblem(problem: CommunicationProblem): string {
  switch (problem.kind) {
    case 'call_failed':
      return `${problem.method} of a communication provider threw: ${String(problem.error)}`;
    case 'dropped':
      return `A communication provider is behind: ${problem.events} events and ${problem.deltas} deltas were not shown. They are in the log, but for deltas.`;
    case 'not_drained':
      return `A communication provider was closed with ${problem.waiting} notices waiting.`;
  }
}
