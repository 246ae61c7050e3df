/** One string for a dispatch of a task; a `taskDir` holds no line end. */
export function dispatchKey(taskDir: string, dispatchId: string): string {
  return `${taskDir}\n${dispatchId}`;
}
