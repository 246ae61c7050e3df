import type { DispatchEnvelope, EventData } from '@hansard/events';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';

export type MessageSource = EventData<'user:message'>['source'];

/** A dispatch whose agent runs. */
export interface DispatchRun {
  readonly dispatchId: string;

  /**
   * The envelope once the dispatch and its workers have ended, however they ended. Rejects only where the store fails,
   * for it or for a worker that goes on after it: that agent is stopped then, and its dispatch stays `running` in the
   * store until `closeAbandonedDispatches` finds it.
   */
  readonly ended: Promise<DispatchEnvelope>;

  /** The dispatch live, deltas included; ends when it does. Where the store fails, the stream does with the same error. */
  stream(options?: LiveStreamOptions): DispatchStream;

  /**
   * Records a message (`user:message`) and gives it to the agent. Without a source it comes from the user.
   * @throws DISPATCH_ENDED where the dispatch ends or has ended; the errors of `Dispatch.append`
   */
  send(text: string, source?: MessageSource): Promise<void>;

  /**
   * Stops the agent; the dispatch is then `aborted`. One that ends already stays as it is. Its workers are aborted in
   * either case.
   */
  abort(reason?: string, by?: string): void;
}
