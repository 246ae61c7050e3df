import { resolve } from 'node:path';
import { type Plugin, systemClock } from '@hansard/provider';
import { checkConfiguration } from './checks/check-configuration.ts';
import { checkApiVersion, checkDenied, checkExport, readDenials } from './checks/check-plugin.ts';
import { findFolderPlugins, resolvePlugin } from './find-plugins.ts';
import { importEntry } from './import-entry.ts';
import {
  defaultCreateTimeout,
  type LoadPluginsOptions,
  mergeReferences,
  type PluginReference,
} from './load-plugins.ts';
import { readManifestFiles, validateManifest } from './plugin-manifest.ts';

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
