import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, messageOf } from '@hansard/events';
import { type Clock, pluginErrors } from '@hansard/provider';
import { isInside, type ManifestFiles, type PluginManifest } from './plugin-manifest.ts';

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

/** Settles as the work does, or rejects with the error of `timeUp` after the time limit. */
export function withinTime<T>(
  work: Promise<T>,
  limitMs: number,
  clock: Clock,
  timeUp: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => reject(timeUp()));
    work.then(resolve, reject).finally(cancel);
  });
}
