export interface PluginReference {
  /** A package name, a path (absolute, or beginning with `./` or `../`), or the id of a plugin in one of the folders. */
  readonly plugin: string;
  /** Absent: the configuration of another reference to the same plugin, or none. Two that differ are an error. */
  readonly config?: unknown;
  /** As in the options of `loadPlugins`, for this plugin. Absent: that of another reference to the same plugin, or of the options. */
  readonly createTimeoutMs?: number | undefined;
}
