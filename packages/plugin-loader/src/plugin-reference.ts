export interface PluginReference {
  /** A package name, a path (absolute, or beginning with `./` or `../`), or the id of a plugin in one of the folders. */
  readonly plugin: string;
  /** Absent: what another reference to the same plugin gives, else nothing. Two that differ are an error. */
  readonly config?: unknown;
}
