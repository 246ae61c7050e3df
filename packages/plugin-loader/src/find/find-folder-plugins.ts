import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isPlainObject, messageOf } from '@hansard/events';
import { pluginErrors } from '@hansard/provider';
import { hasManifest } from '../manifest/plugin-path.ts';
import { readManifestFiles } from '../manifest/read-plugin-manifest.ts';
import type { PluginSource } from '../report/load-report.ts';

/** A plugin below one of the `folders`. */
export interface FolderPlugin {
  /** The id in its manifest; the name of its folder if the manifest cannot be read. */
  readonly id: string;
  readonly source: PluginSource;
}

/**
 * Lists the plugins of a folder by the name of their subfolder: each subfolder with a `plugin.json`.
 * @throws PLUGIN_NOT_FOUND if the folder cannot be searched
 */
export async function findFolderPlugins(folder: string): Promise<FolderPlugin[]> {
  try {
    return await listPlugins(folder);
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_NOT_FOUND',
      `The plugin folder ${folder} cannot be searched: ${messageOf(cause)}. Correct it in the configuration.`,
      { cause, details: { folder } },
    );
  }
}

async function listPlugins(folder: string): Promise<FolderPlugin[]> {
  const plugins: FolderPlugin[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (!hasManifest(join(folder, name))) continue;
    const location = await realpath(join(folder, name));
    plugins.push({ id: await idOf(location), source: { kind: 'folder', location } });
  }
  return plugins;
}

async function idOf(location: string): Promise<string> {
  try {
    const { manifest } = await readManifestFiles(location);
    if (isPlainObject(manifest) && typeof manifest.id === 'string') return manifest.id;
  } catch {
    // The check that reads the manifest meets the same error and reports it.
  }
  return basename(location);
}
