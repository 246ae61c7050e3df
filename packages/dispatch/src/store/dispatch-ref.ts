/** Names one dispatch of a store. A `DispatchLog` and a `Dispatch` are references to their own dispatch. */
export interface DispatchRef {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** One string for a reference, for maps. A `taskDir` contains no line break. */
export function dispatchKey(dispatch: DispatchRef): string {
  return `${dispatch.taskDir}\n${dispatch.dispatchId}`;
}
