/** The text of the result of a tool call without one: its session stopped before the call was done. */
export const interruption =
  'interrupted: the session stopped before this call was done. What it had done by then stands.';
