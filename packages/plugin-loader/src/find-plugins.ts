import { realpathSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, messageOf } from '@hansard/events';
import { type PluginError, pluginErrors } from '@hansard/provider';
import type { PluginSource } from './load-report.ts';
import { hasManifest, readManifestFiles } from './plugin-manifest.ts';

/**
 * The plugin that a reference names: a path (absolute, or beginning with `.`), or an installed package, or a plugin of the
 * `folders` by its id. Packages have precedence, so that a folder of a workspace never replaces one.
 * @throws PLUGIN_NOT_FOUND, PLUGIN_DUPLICATE_ID if several plugins of the folders have the id
 */
export async function resolvePlugin(
  reference: string,
  packageDirs: readonly [baseDir: string, ...others: string[]],
  folderPlugins: readonly FolderPlugin[],
): Promise<PluginSource> {
  const [baseDir] = packageDirs;
  if (isPath(reference)) {
    const folder = resolve(baseDir, reference);
    if (hasManifest(folder)) return { kind: 'path', location: realpathSync.native(folder) };
    throw notFound(reference, `${folder} has no plugin.json. Correct the path in the configuration.`);
  }
  const packageFolder = findPackage(reference, packageDirs);
  if (packageFolder !== null && hasManifest(packageFolder))
    return { kind: 'package', location: realpathSync.native(packageFolder) };
  const [found, other] = folderPlugins.filter((plugin) => plugin.id === reference);
  if (found !== undefined && other !== undefined) throw severalWithId(reference, [found, other]);
  if (found !== undefined) return found.source;
  throw notFound(
    reference,
    packageFolder === null
      ? `no such package is installed for ${baseDir}, and no plugin folder has this id. Install it, or correct the name in the configuration.`
      : `the package in ${packageFolder} has no plugin.json, so it is not a plugin.`,
  );
}

export function isPath(reference: string): boolean {
  return isAbsolute(reference) || /^\.{1,2}(?:[/\\]|$)/.test(reference);
}

/** Searches folders and not `exports`, so that a package need not export its manifest. */
function findPackage(name: string, packageDirs: readonly string[]): string | null {
  if (!/^(?:@[\w.~-]+\/)?\w[\w.~-]*$/.test(name)) return null;
  for (const dir of packageDirs) {
    const folder = findPackageFrom(dir, name);
    if (folder !== null) return folder;
  }
  return null;
}

function findPackageFrom(dir: string, name: string): string | null {
  try {
    const packageJson = findPackageJSON(name, pathToFileURL(join(dir, 'configuration')));
    return packageJson === undefined ? null : dirname(packageJson);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw notFound(name, messageOf(error), error);
  }
}

/** A manifest gives itself its id, so that the first of several could be one that the configuration does not mean. */
function severalWithId(id: string, plugins: readonly FolderPlugin[]): PluginError {
  const places = plugins.map(({ source }) => source.location);
  return pluginErrors.error(
    'PLUGIN_DUPLICATE_ID',
    `Several plugins in the plugin folders have the id ${id}: ${places.join(' and ')}. Remove one, or name the path of the plugin in the configuration.`,
    { details: { plugin: id, location: places[0] } },
  );
}

function notFound(reference: string, why: string, cause?: unknown): PluginError {
  return pluginErrors.error('PLUGIN_NOT_FOUND', `Plugin ${reference} was not found: ${why}`, {
    cause,
    details: { plugin: reference },
  });
}

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
