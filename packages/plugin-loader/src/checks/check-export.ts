import { type Plugin, pluginErrors } from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';

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
