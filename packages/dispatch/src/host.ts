/** As `process.emitWarning`; a page, which has no process, gets a line on its console. */
export function warn(message: string, options: { readonly type?: string; readonly code?: string }): void {
  if (typeof process !== 'undefined') process.emitWarning(message, options);
  // biome-ignore lint/suspicious/noConsole: a page has no other place for a warning.
  else console.warn(message);
}

/** What names this process in a message: its number, or that it is a page. */
export function ownName(): string {
  return typeof process === 'undefined' ? 'a page' : String(process.pid);
}
