import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isPlainObject, messageOf } from '@hansard/events';
import { PluginError } from '@hansard/provider';
import { hasManifest } from '../manifest/plugin-path.ts';
import { readManifestFiles } from '../manifest/read-plugin-manifest.ts';
import type { PluginSource } from '../report/load-report.ts';

/** A plugin below one of the `folders`. */
export interface FolderPlugin {
  /** What its manifest says; where that can't be read, the name of its folder. */
  readonly id: string;
  readonly source: PluginSource;
}

/**
 * The plugins of a folder, by the name of their subfolder: each subfolder that holds a `plugin.json`.
 * @throws PLUGIN_NOT_FOUND where the folder can't be searched
 */
export async function findFolderPlugins(folder: string): Promise<FolderPlugin[]> {
  try {
    return await listPlugins(folder);
  } catch (cause) {
    throw new PluginError(
      'PLUGIN_NOT_FOUND',
      `The plugin folder ${folder} can't be searched: ${messageOf(cause)}. Correct it in the configuration.`,
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
