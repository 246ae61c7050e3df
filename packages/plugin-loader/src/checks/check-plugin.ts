import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { contractVersion, type Plugin, pluginErrors } from '@hansard/provider';
import { isAbsent, isInside, type PluginManifest } from '../plugin-manifest.ts';

/** An entry of the deny list, as it was written, and as a path. */
export interface Denial {
  readonly written: string;
  readonly path: string;
}

export async function readDenials(deny: readonly string[], baseDir: string): Promise<Denial[]> {
  return Promise.all(
    deny.map(async (written) => {
      const path = resolve(baseDir, written);
      return { written, path: await realpath(path).catch((error) => whenAbsent(error, path)) };
    }),
  );
}

/**
 * An entry denies the plugin with that id, the package with that name, or every plugin at or below that path.
 * @throws PLUGIN_NOT_TRUSTED
 */
export function checkDenied(
  plugin: { readonly id: string; readonly packageName: string | undefined; readonly location: string },
  denials: readonly Denial[],
): void {
  const { id, packageName, location } = plugin;
  const denial = denials.find(
    ({ written, path }) => written === id || written === packageName || isInside(path, location),
  );
  if (denial === undefined) return;
  throw pluginErrors.error(
    'PLUGIN_NOT_TRUSTED',
    `Plugin ${id} is not loaded: the configuration denies ${denial.written}.`,
    { details: { plugin: id, denial: denial.written, location } },
  );
}

function whenAbsent(error: unknown, path: string): string {
  if (isAbsent(error)) return path;
  throw error;
}

/** @throws PLUGIN_API_VERSION */
export function checkApiVersion({ id, apiVersion }: PluginManifest): void {
  if (apiVersion === contractVersion) return;
  const older = apiVersion < contractVersion;
  throw pluginErrors.error(
    'PLUGIN_API_VERSION',
    `Plugin ${id} was written for version ${apiVersion} of the Hansard contracts, and this is version ${contractVersion}. ` +
      `Update ${older ? 'the plugin' : 'Hansard'}.`,
    { details: { plugin: id, apiVersion, expected: contractVersion } },
  );
}

/**
 * The first plugin with an id keeps it. `claimed` has the location of each.
 * @throws PLUGIN_DUPLICATE_ID
 */
export function checkDuplicateId(
  { id }: PluginManifest,
  location: string,
  claimed: ReadonlyMap<string, string>,
): void {
  const first = claimed.get(id);
  if (first === undefined) return;
  throw pluginErrors.error(
    'PLUGIN_DUPLICATE_ID',
    first === location
      ? `Plugin ${id} is configured twice, with different configurations. Remove one of the two.`
      : `Another plugin has the id ${id}, from ${first}. Remove one of the two from the configuration.`,
    { details: { plugin: id, location: first } },
  );
}

/**
 * Returns the plugin that an entry exports by default. It must have the id and the type of the manifest.
 * @throws PLUGIN_EXPORT_MISMATCH
 */
export function checkExport(
  module: { readonly default?: unknown },
  manifest: PluginManifest,
): Plugin<string> {
  const plugin = module.default;
  const mismatch = findMismatch(plugin, manifest);
  if (mismatch === null) return plugin as Plugin<string>;
  const { id, entry } = manifest;
  throw pluginErrors.error(
    'PLUGIN_EXPORT_MISMATCH',
    `The entry ${entry} of plugin ${id} does not match its manifest: ${mismatch}. Export definePlugin({ … }) by default.`,
    { details: { plugin: id, entry } },
  );
}

function findMismatch(value: unknown, { id, provides }: PluginManifest): string | null {
  if (typeof value !== 'object' || value === null) return 'it has no default export that is a plugin';
  const plugin = value as Partial<Plugin<string>>;
  if (plugin.id !== id) return `the id of its export is ${String(plugin.id)}`;
  if (plugin.provides !== provides)
    return `its export provides ${String(plugin.provides)}, and the manifest says ${provides}`;
  if (typeof plugin.create !== 'function') return 'its export has no create function';
  return null;
}
