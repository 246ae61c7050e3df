import type { PluginError } from '@hansard/provider';
import type { LoadCheck } from './load-check.ts';

/** The outcome for each plugin. Plain data. */
export interface LoadReport {
  /** In the order of the configuration, then those that were found in folders and not named. */
  readonly plugins: readonly PluginReportEntry[];
  /** Milliseconds. */
  readonly totalMs: number;
}

export interface PluginReportEntry {
  /** The manifest's id; before it could be read, the written reference or the name of the folder. */
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly provides?: string;
  readonly source: PluginSource;
  readonly state: PluginState;
  /** The check at which it stopped; absent if it was loaded. */
  readonly check?: LoadCheck;
  /** The reason why it failed or was denied. */
  readonly error?: { readonly code: PluginError['code']; readonly message: string };
  /** The server of a store, or why it did not answer. Only where the caller asked it. */
  readonly server?: ServerReport;
  /** The duration of each check that ran, in milliseconds. */
  readonly timings: Readonly<Partial<Record<LoadCheck, number>>>;
}

export type ServerReport =
  | { readonly name: string; readonly version: string; readonly latencyMs: number }
  | { readonly error: { readonly code: string; readonly message: string } };

/**
 * `loaded`: it has a provider. `failed`: a check refused it. `denied`: the configuration forbids it.
 * `off`: found in a folder, and the configuration does not name it.
 */
export type PluginState = 'loaded' | 'failed' | 'denied' | 'off';

export interface PluginSource {
  /** How it was found: as a package, below one of the `folders`, or at a path that the configuration gives. */
  readonly kind: 'package' | 'folder' | 'path';
  /** The plugin's folder with links followed; if it was not found, the reference from the configuration. */
  readonly location: string;
}
