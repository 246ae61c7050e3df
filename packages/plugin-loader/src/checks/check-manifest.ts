import { contractVersion, pluginErrors } from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';

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
