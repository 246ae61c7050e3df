import type { DispatchEnvelope, EventData } from '@hansard/events';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';

export type MessageSource = EventData<'user:message'>['source'];

/** A dispatch with a running agent. */
export interface DispatchRun {
  readonly dispatchId: string;

  /**
   * The envelope once the dispatch and its workers have ended, however they ended. Rejects only if the store fails for the
   * dispatch, or for a worker that continues after it. That agent is stopped, and its dispatch stays `running` in the store
   * until `closeAbandonedDispatches` ends it.
   */
  readonly ended: Promise<DispatchEnvelope>;

  /** The dispatch live, with its deltas. Ends when the dispatch does; if the store fails, with the same error. */
  stream(options?: LiveStreamOptions): DispatchStream;

  /**
   * Records a message (`user:message`) and delivers it to the agent. Without a source it comes from the user.
   * @throws DISPATCH_MESSAGE_EMPTY; DISPATCH_ENDED if the dispatch ends or has ended; the errors of `Dispatch.append`
   */
  send(text: string, source?: MessageSource): Promise<void>;

  /**
   * Stops the agent; the dispatch becomes `aborted`. A dispatch that is already ending is unchanged. Its workers are aborted
   * in either case.
   */
  abort(reason?: string, by?: string): void;
}
