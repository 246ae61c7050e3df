import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, messageOf } from '@hansard/events';
import type { Clock } from '@hansard/provider';
import { PluginError } from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';
import { isInside } from '../manifest/plugin-path.ts';
import type { ManifestFiles } from '../manifest/read-plugin-manifest.ts';
import { withinTime } from './within-time.ts';

const sourceCondition = '@hansard/source';
const loaderRunsFromSource = import.meta.url.endsWith('.ts');

/**
 * The module of a plugin's entry: the first time that code of it runs.
 * @throws PLUGIN_IMPORT_FAILED also for an entry that leads out of the plugin's folder, or does not finish in time
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
      () => new Error(`its code did not run to its end within ${limitMs} ms`),
    );
  } catch (cause) {
    throw new PluginError(
      'PLUGIN_IMPORT_FAILED',
      `Plugin ${id} could not be imported from ${entry} in ${files.folder}: ${messageOf(cause)}`,
      { cause, details: { plugin: id, entry, folder: files.folder } },
    );
  }
}

/**
 * The entry, or the source that it is built from: a loader that itself runs from source, under the development
 * condition of the workspace, takes what the package's `exports` have for that condition in place of the entry.
 */
function entryFile(entry: string, { packageJson }: ManifestFiles): string {
  if (!loaderRunsFromSource || !isPlainObject(packageJson?.exports)) return entry;
  const target = Object.values(packageJson.exports)
    .filter(isPlainObject)
    .find((conditions) => conditions.default === entry);
  const source = target?.[sourceCondition];
  return typeof source === 'string' ? source : entry;
}
