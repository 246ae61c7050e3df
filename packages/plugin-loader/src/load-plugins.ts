import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { definedOnly } from '@hansard/events';
import { type Clock, type Plugin, type PluginError, pluginErrors, systemClock } from '@hansard/provider';
import { checkConfiguration } from './checks/check-configuration.ts';
import {
  checkApiVersion,
  checkDenied,
  checkDuplicateId,
  checkExport,
  readDenials,
} from './checks/check-plugin.ts';
import { type FolderPlugin, findFolderPlugins, resolvePlugin } from './find-plugins.ts';
import { importEntry } from './import-entry.ts';
import { type LoadContext, type LoadOutcome, loadPlugin } from './load-plugin.ts';
import { DiscardedProviders, type LoadedPlugins, ProviderSet } from './loaded-plugins.ts';
import { hasManifest, readManifestFiles, validateManifest } from './plugin-manifest.ts';

export interface PluginReference {
  /** A package name, a path (absolute, or beginning with `./` or `../`), or the id of a plugin in one of the folders. */
  readonly plugin: string;
  /** Absent: the configuration of another reference to the same plugin, or none. Two that differ are an error. */
  readonly config?: unknown;
  /** As in the options of `loadPlugins`, for this plugin. Absent: that of another reference to the same plugin, or of the options. */
  readonly createTimeoutMs?: number | undefined;
}

export interface LoadPluginsOptions {
  /** The folder of the configuration: relative paths are relative to it, and packages are searched from it upwards. */
  readonly baseDir: string;
  /** Further folders from which packages are searched, such as the app's own. */
  readonly packageDirs?: readonly string[];
  /** The plugins to load, in this order. References to the same plugin count as one. */
  readonly plugins: readonly PluginReference[];
  /** References that load nothing. They configure the plugins of `plugins` that they name. */
  readonly configurations?: readonly PluginReference[];
  /** Folders whose subfolders may be plugins. A plugin there is off until `plugins` names it. */
  readonly folders?: readonly string[];
  /** Plugin ids, package names and paths that are never loaded, even if `plugins` names them. */
  readonly deny?: readonly string[];
  /**
   * The time limit for importing a plugin, and again for creating its provider, in milliseconds, unless its reference has
   * one. Absent: 10,000.
   */
  readonly createTimeoutMs?: number;
  /** Absent: the time of the system. */
  readonly clock?: Clock;
}

/** Milliseconds. */
const defaultCreateTimeout = 10_000;

/** The greatest `createTimeoutMs`, because no timer takes longer. */
export const longestTimeout = 2 ** 31 - 1;

/**
 * Finds, checks and loads plugins, one after the other in the order of the configuration. A bad plugin does not stop the
 * others and does not make this reject. The report lists it, and the caller decides whether it needs that plugin.
 * @throws TypeError for a `createTimeoutMs` that is not a whole number of milliseconds from 1; the error of the file system
 * for a path in `deny` that cannot be followed, because nothing is safe to load then
 */
export async function loadPlugins(options: LoadPluginsOptions): Promise<LoadedPlugins> {
  const { folders = [], deny = [], createTimeoutMs = defaultCreateTimeout, clock = systemClock } = options;
  for (const limitMs of [createTimeoutMs, ...limitsOf(options.plugins), ...limitsOf(options.configurations)])
    if (!Number.isInteger(limitMs) || limitMs < 1 || limitMs > longestTimeout)
      throw new TypeError(`createTimeoutMs must be a whole number from 1 to ${longestTimeout}.`);
  const start = clock.monotonic();
  const baseDir = resolve(options.baseDir);
  const found = await searchFolders(folders, baseDir);
  const discarded = new DiscardedProviders();
  const context: LoadContext = {
    baseDir,
    packageDirs: [baseDir, ...(options.packageDirs ?? [])],
    clock,
    limitMs: createTimeoutMs,
    discard: (id, provider) => discarded.discard(id, provider),
    folderPlugins: found.plugins,
    denials: await readDenials(deny, baseDir),
    claimed: new Map(),
  };
  const plugins = await mergeReferences(options.plugins, options.configurations ?? [], (reference) =>
    resolvePlugin(reference, context.packageDirs, found.plugins).then(
      ({ location }) => location,
      () => null, // The check `find` meets the same error and reports it.
    ),
  );
  const outcomes: LoadOutcome[] = [];
  for (const { plugin, config, createTimeoutMs: limitMs } of plugins)
    outcomes.push(await loadPlugin({ named: true, reference: plugin, config, limitMs }, context));
  const named = new Set(outcomes.map(({ entry }) => entry.source.location));
  for (const plugin of found.plugins) {
    if (named.has(plugin.source.location)) continue;
    named.add(plugin.source.location);
    outcomes.push(await loadPlugin({ named: false, found: plugin }, context));
  }
  outcomes.push(...found.failures);
  const report = { plugins: outcomes.map(({ entry }) => entry), totalMs: clock.monotonic() - start };
  const errors = outcomes.flatMap(({ error }) => error ?? []);
  const loaded = outcomes.flatMap((outcome) => outcome.loaded ?? []);
  return new ProviderSet(report, errors, loaded, discarded);
}

function limitsOf(references: readonly PluginReference[] = []): number[] {
  return references.flatMap(({ createTimeoutMs }) => createTimeoutMs ?? []);
}

async function searchFolders(
  folders: readonly string[],
  baseDir: string,
): Promise<{ readonly plugins: FolderPlugin[]; readonly failures: LoadOutcome[] }> {
  const plugins: FolderPlugin[] = [];
  const failures: LoadOutcome[] = [];
  for (const folder of folders) {
    try {
      plugins.push(...(await findFolderPlugins(resolve(baseDir, folder))));
    } catch (error) {
      failures.push(failureOf(folder, error as PluginError));
    }
  }
  return { plugins, failures };
}

function failureOf(folder: string, error: PluginError): LoadOutcome {
  const { code, message } = error;
  const source = { kind: 'folder', location: folder } as const;
  return {
    entry: { id: folder, source, state: 'failed', check: 'find', error: { code, message }, timings: {} },
    error,
  };
}

/**
 * Returns one reference for each plugin, in the place of the first, with the configuration that any of them gives, and
 * the first time limit. Plugins
 * that only `configurations` name are left out. If two configurations differ, both references stay, and the second is
 * refused later. `locate` returns null for a plugin that is not found.
 */
async function mergeReferences(
  plugins: readonly PluginReference[],
  configurations: readonly PluginReference[],
  locate: (reference: string) => Promise<string | null>,
): Promise<readonly PluginReference[]> {
  const merged: PluginReference[] = [];
  const places = new Map<string, number>();
  for (const reference of plugins) await add(reference, true);
  for (const reference of configurations) await add(reference, false);
  return merged;

  async function add(reference: PluginReference, isToLoad: boolean): Promise<void> {
    const location = await locate(reference.plugin);
    const place = location === null ? undefined : places.get(location);
    const earlier = place === undefined ? undefined : merged[place];
    if (place === undefined || earlier === undefined) {
      if (!isToLoad) return;
      if (location !== null) places.set(location, merged.length);
      merged.push(reference);
      return;
    }
    merged[place] = { ...reference, ...definedOnly(earlier) };
    const { config } = reference;
    if (earlier.config !== undefined && config !== undefined && !isDeepStrictEqual(earlier.config, config))
      merged.push(reference);
  }
}

/** A plugin whose code is loaded, and that has created nothing. */
export interface ImportedPlugin {
  readonly plugin: Plugin<string>;
  /** Checked, with defaults. */
  readonly config: unknown;
}

/**
 * Finds, checks and imports one plugin, and creates no provider, so that nothing is opened or connected.
 * @throws the PluginError of the first check that refuses it
 */
export async function importPlugin(
  reference: PluginReference,
  options: Omit<LoadPluginsOptions, 'plugins'>,
): Promise<ImportedPlugin> {
  const { configurations = [], folders = [], deny = [], clock = systemClock } = options;
  const baseDir = resolve(options.baseDir);
  const found = await Promise.all(folders.map((folder) => findFolderPlugins(resolve(baseDir, folder))));
  const find = (name: string) => resolvePlugin(name, [baseDir, ...(options.packageDirs ?? [])], found.flat());
  const [merged = reference] = await mergeReferences([reference], configurations, (name) =>
    find(name).then(
      ({ location }) => location,
      () => null,
    ),
  );
  const { location } = await find(merged.plugin);
  const files = await readManifestFiles(location);
  const manifest = validateManifest(files);
  checkApiVersion(manifest);
  const named = { id: manifest.id, packageName: files.packageJson?.name, location };
  checkDenied(named, await readDenials(deny, baseDir));
  const config = await checkConfiguration(manifest, merged.config);
  const limitMs = merged.createTimeoutMs ?? options.createTimeoutMs ?? defaultCreateTimeout;
  const module = await importEntry(manifest, files, clock, limitMs);
  return { plugin: checkExport(module, manifest), config };
}

/** A plugin of a folder whose manifest and entry were checked. */
export interface InspectedPlugin {
  /** The id in its manifest; the name of its folder if the manifest cannot be read. */
  readonly id: string;
  /** Null if the manifest does not say it. */
  readonly provides: string | null;
  readonly location: string;
  /** The check that refuses it; null: none. */
  readonly error: PluginError | null;
}

/**
 * Checks the plugin of a folder, or each plugin of its subfolders: manifest, version of the contracts, ids that are there twice, and what the entry
 * exports. Configures and creates nothing.
 * @throws PLUGIN_NOT_FOUND if there is no plugin
 */
export async function inspectPlugins(folder: string): Promise<readonly InspectedPlugin[]> {
  const found = hasManifest(folder)
    ? [{ id: basename(folder), source: { location: realpathSync.native(folder) } }]
    : await findFolderPlugins(folder);
  if (found.length === 0)
    throw pluginErrors.error(
      'PLUGIN_NOT_FOUND',
      `${folder} has no plugin.json, and no folder in it has one.`,
      {
        details: { folder },
      },
    );
  const claimed = new Map<string, string>();
  const inspected: InspectedPlugin[] = [];
  for (const { id, source } of found) inspected.push(await inspectPlugin(id, source.location, claimed));
  return inspected;
}

async function inspectPlugin(
  folderName: string,
  location: string,
  claimed: Map<string, string>,
): Promise<InspectedPlugin> {
  let id = folderName;
  let provides: string | null = null;
  try {
    const files = await readManifestFiles(location);
    const manifest = validateManifest(files);
    ({ id, provides } = manifest);
    checkApiVersion(manifest);
    checkDuplicateId(manifest, location, claimed);
    claimed.set(id, location);
    checkExport(await importEntry(manifest, files, systemClock, defaultCreateTimeout), manifest);
    return { id, provides, location, error: null };
  } catch (error) {
    if (!pluginErrors.is(error)) throw error;
    return { id, provides, location, error };
  }
}
