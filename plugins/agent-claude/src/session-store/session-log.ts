import type { DispatchStore } from '@hansard/dispatch';

/** What a session store uses of an open store of Hansard. */
export type SessionLog = Pick<
  DispatchStore,
  | 'beginDispatch'
  | 'openDispatch'
  | 'findDispatch'
  | 'getDispatchEnvelopes'
  | 'getDispatchEnvelope'
  | 'getRecentEvents'
  | 'deleteDispatch'
>;
