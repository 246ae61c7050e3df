import type { PluginError } from '@hansard/provider';

/** The checks of loading a plugin, in their order, each with the code of an unexpected error in it. */
export const loadChecks = {
  find: 'PLUGIN_NOT_FOUND',
  read: 'PLUGIN_MANIFEST_UNREADABLE',
  validate: 'PLUGIN_MANIFEST_INVALID',
  'api version': 'PLUGIN_API_VERSION',
  'duplicate id': 'PLUGIN_DUPLICATE_ID',
  trust: 'PLUGIN_NOT_TRUSTED',
  configuration: 'PLUGIN_CONFIG_INVALID',
  import: 'PLUGIN_IMPORT_FAILED',
  export: 'PLUGIN_EXPORT_MISMATCH',
  create: 'PLUGIN_CREATE_FAILED',
  contract: 'PLUGIN_API_VERSION',
  methods: 'PLUGIN_METHOD_MISSING',
} as const satisfies Record<string, PluginError['code']>;

export type LoadCheck = keyof typeof loadChecks;

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
type PluginState = 'loaded' | 'failed' | 'denied' | 'off';

export interface PluginSource {
  /** How it was found: as a package, below one of the `folders`, or at a path that the configuration gives. */
  readonly kind: 'package' | 'folder' | 'path';
  /** The plugin's folder with links followed; if it was not found, the reference from the configuration. */
  readonly location: string;
}

const states: readonly PluginState[] = ['loaded', 'failed', 'denied', 'off'];

/** The report as lines for people: a head with the counts, then each plugin with its source, timings or error. */
export function renderLoadReport({ plugins, totalMs }: LoadReport): string {
  const counts = states
    .map((state) => ({ state, count: plugins.filter((plugin) => plugin.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`);
  const head = `Plugins: ${counts.join(', ') || 'none'} (${milliseconds(totalMs)})`;
  return [head, ...plugins.flatMap(renderEntry)].join('\n');
}

function renderEntry(entry: PluginReportEntry): string[] {
  const { id, version, provides, state, source, error, check, server } = entry;
  const title = [id, version, provides].filter((part) => part !== undefined).join(' ');
  const lines = [`${source.kind} ${source.location}`];
  if (error !== undefined) lines.push(`${check}: ${error.code} ${error.message}`);
  if (server !== undefined) lines.push(renderServer(server));
  if (state === 'off') lines.push('name it in the configuration to load it');
  if (state === 'loaded') lines.push(renderTimings(entry));
  return [`  ${state.padEnd(6)} ${printable(title)}`, ...lines.map((line) => `         ${printable(line)}`)];
}

function renderServer(server: ServerReport): string {
  if ('error' in server) return `server: ${server.error.code} ${server.error.message}`;
  return `server ${server.name}: ${server.version}, answered in ${milliseconds(server.latencyMs)}`;
}

/** Checks shorter than 0.05 ms are left out. */
function renderTimings({ timings }: PluginReportEntry): string {
  const times = Object.entries(timings);
  const total = times.reduce((sum, [, time]) => sum + time, 0);
  const shown = times
    .filter(([, time]) => time >= 0.05)
    .map(([check, time]) => `${check} ${time.toFixed(1)}`);
  return `took ${milliseconds(total)}${shown.length === 0 ? '' : ` (${shown.join(', ')})`}`;
}

function milliseconds(time: number): string {
  return `${time.toFixed(1)} ms`;
}

/** A manifest is untrusted text: it must not control the terminal or forge lines of the report. */
function printable(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/gu, '�');
}
