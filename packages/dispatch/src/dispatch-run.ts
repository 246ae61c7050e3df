import type { DispatchEnvelope, EventData } from '@hansard/events';

export type MessageSource = EventData<'user:message'>['source'];

/** A dispatch whose agent runs. */
export interface DispatchRun {
  readonly dispatchId: string;

  /**
   * The envelope once the dispatch has ended, however it ended. Rejects only where the store fails: the agent is stopped
   * then, and the dispatch stays `running` in the store until `closeAbandonedDispatches` finds it.
   */
  readonly ended: Promise<DispatchEnvelope>;

  /**
   * Records a message (`user:message`) and gives it to the agent. Without a source it comes from the user.
   * @throws TypeError where the dispatch ends or has ended; what `appendEvent` throws
   */
  send(text: string, source?: MessageSource): Promise<void>;

  /** Stops the agent; the dispatch is then `aborted`. One that ends already stays as it is. */
  abort(reason?: string, by?: string): void;
}
