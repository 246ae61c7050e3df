import type { DispatchRef } from '@hansard/dispatch';

/** A text that an agent is writing. It is not in the log. */
export interface OpenText {
  /** Unique in the process. */
  readonly key: number;
  /** Empty: the dispatched agent. */
  readonly agentId: string;
  readonly kind: 'text' | 'thinking';
  /** How many characters before `text` are not kept. */
  readonly start: number;
  readonly text: string;
}

export type RunChange =
  /** The texts, or whether it runs. */
  | { readonly kind: 'changed' }
  /** A text ended: it is in this event now. Null: it never will be in the log. */
  | { readonly kind: 'ended'; readonly key: number; readonly eventId: string | null }
  /** The viewer will be closed soon. A page that has everything should close its connection. */
  | { readonly kind: 'over' };

/** The dispatches that run in the process of the viewer. What it keeps is bounded. */
export interface ViewedRuns {
  isRunning(dispatch: DispatchRef): boolean;
  texts(dispatch: DispatchRef): readonly OpenText[];
  /** Calls back after each change of a dispatch, until the returned function is called. */
  watch(dispatch: DispatchRef, onChange: (change: RunChange) => void): () => void;
  /** Delivers a message of the user. False: it does not run here, or takes none. Fails as `CommunicationHost.deliver` does. */
  send(dispatch: DispatchRef, text: string): Promise<boolean>;
  /** Stops it for the user. False: it does not run here, or cannot be stopped. */
  abort(dispatch: DispatchRef): boolean;
}
