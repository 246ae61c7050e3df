/** Places that may keep a construction, at most ten, each with its reason. */
export const proseExceptions: readonly {
  readonly file: string;
  readonly pattern: string;
  readonly reason: string;
}[] = [];
