import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, messageOf } from '@hansard/events';
import type { Clock } from '@hansard/provider';
import { pluginErrors } from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';
import { isInside } from '../manifest/plugin-path.ts';
import type { ManifestFiles } from '../manifest/read-plugin-manifest.ts';
import { withinTime } from './within-time.ts';

const sourceCondition = '@hansard/source';
const loaderRunsFromSource = import.meta.url.endsWith('.ts');

/**
 * Imports the module of a plugin's entry. Code of the plugin runs here for the first time.
 * @throws PLUGIN_IMPORT_FAILED, including when the entry leads out of the plugin's folder or does not finish in time
 */
export async function importEntry(
  { id, entry }: PluginManifest,
  files: ManifestFiles,
  clock: Clock,
  limitMs: number,
): Promise<{ readonly default?: unknown }> {
  try {
    const file = realpathSync.native(join(files.folder, entryFile(entry, files)));
    if (!isInside(files.folder, file)) throw new Error(`the entry leads to ${file}, outside its folder`);
    return await withinTime(
      import(/* @vite-ignore */ pathToFileURL(file).href),
      limitMs,
      clock,
      () => new Error(`its code did not run to its end within ${limitMs} ms (createTimeoutMs)`),
    );
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_IMPORT_FAILED',
      `Plugin ${id} could not be imported from ${entry} in ${files.folder}: ${messageOf(cause)}`,
      { cause, details: { plugin: id, entry, folder: files.folder } },
    );
  }
}

/**
 * The entry, or the source from which it is built: a loader that runs from source, under the development condition of the
 * workspace, uses the file that the package's `exports` name for that condition.
 */
function entryFile(entry: string, { packageJson }: ManifestFiles): string {
  if (!loaderRunsFromSource || !isPlainObject(packageJson?.exports)) return entry;
  const target = Object.values(packageJson.exports)
    .filter(isPlainObject)
    .find((conditions) => conditions.default === entry);
  const source = target?.[sourceCondition];
  return typeof source === 'string' ? source : entry;
}
