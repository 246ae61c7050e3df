/** Names one dispatch of a store. A `DispatchLog` and a `Dispatch` are references to their own dispatch. */
export interface DispatchRef {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** Only the reference, of an object that is or contains more: for the details of an error, and for spreading. */
export function toDispatchRef({ taskDir, dispatchId }: DispatchRef): DispatchRef {
  return { taskDir, dispatchId };
}

/** One string for a reference, for maps. A `taskDir` contains no line break. */
export function dispatchKey(dispatch: DispatchRef): string {
  return `${dispatch.taskDir}\n${dispatch.dispatchId}`;
}
