/** The text of the result of a tool call without one: its session stopped before the call was done. */
export const interruption =
  'interrupted: the session stopped before this call was done. What it had done by then stands.';

/** The text of the result of a tool call that a rewind, or a fork, took back before it had one. */
export const takenBackText =
  'taken back: the conversation went back before this call had a result. What it had done by then stands.';
