import type { CommunicationProvider } from '@hansard/provider';

/** A problem between a dispatch and a communication provider. The dispatch continues, unless its store failed. */
export type CommunicationProblem =
  /** A method of the provider threw. A provider whose `start` threw gets no more calls. */
  | {
      readonly kind: 'call_failed';
      readonly provider: CommunicationProvider;
      readonly method: keyof CommunicationProvider;
      readonly error: unknown;
    }
  /**
   * The provider is so slow that notices were dropped: deltas first, then the oldest events, and finally starts and ends of
   * dispatches, which are counted as events.
   */
  | {
      readonly kind: 'dropped';
      readonly provider: CommunicationProvider;
      readonly events: number;
      readonly deltas: number;
    }
  /** The store failed for a dispatch that a provider began. */
  | { readonly kind: 'task_failed'; readonly dispatchId: string; readonly error: unknown }
  /** Notices still waited when the hub was closed; the provider never received them. */
  | { readonly kind: 'not_drained'; readonly provider: CommunicationProvider; readonly waiting: number };

/** The problem in one sentence. */
export function describeCommunicationProblem(problem: CommunicationProblem): string {
  switch (problem.kind) {
    case 'call_failed':
      return `${problem.method} of a communication provider threw: ${String(problem.error)}`;
    case 'dropped':
      return `A communication provider is behind: ${problem.events} events and ${problem.deltas} deltas were not shown. They are in the log, but for deltas.`;
    case 'task_failed':
      return `The dispatch ${problem.dispatchId}, which a communication provider began, failed: ${String(problem.error)}`;
    case 'not_drained':
      return `A communication provider was closed with ${problem.waiting} notices waiting.`;
  }
}
