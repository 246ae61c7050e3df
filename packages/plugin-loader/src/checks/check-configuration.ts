import type { PluginManifest } from '../manifest/plugin-manifest.ts';
import { fillPlainConfiguration } from './plain-configuration.ts';

/**
 * The configuration as the plugin receives it: a copy with the defaults of `configSchema` filled in; `{}` if there is
 * none. Without a `configSchema` nothing is checked. `format` is not checked.
 * @throws PLUGIN_CONFIG_SCHEMA_INVALID
 * @throws PLUGIN_CONFIG_INVALID naming each path, what is wrong and the value, unless it looks like a secret
 */
export async function checkConfiguration(
  { id, configSchema }: PluginManifest,
  config: unknown = {},
): Promise<unknown> {
  if (configSchema === undefined) return config;
  const filled = fillPlainConfiguration(configSchema, config);
  if (filled !== null) return filled;
  // To load the library and compile a schema takes longer than `hansard ls` as a whole, so it is loaded only when needed.
  const { checkByJsonSchema } = await import('./json-schema-check.ts');
  return checkByJsonSchema(id, configSchema, config);
}
