/** What stands as the result of a tool call that was open when its session stopped. */
export const interruption =
  'interrupted: the session stopped before this call was done. What it had done by then stands.';
