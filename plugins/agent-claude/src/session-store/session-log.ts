import type { DispatchStore } from '@hansard/dispatch';

/** The methods of an open Hansard store that a session store uses. */
export type SessionLog = Pick<
  DispatchStore,
  'beginDispatch' | 'openDispatch' | 'findDispatch' | 'getDispatchEnvelopes' | 'deleteDispatch'
>;
