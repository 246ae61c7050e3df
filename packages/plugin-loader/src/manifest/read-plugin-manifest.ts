import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describeIssues, isPlainObject, messageOf } from '@hansard/events';
import { pluginErrors } from '@hansard/provider';
import { z } from 'zod';
import { type PluginManifest, pluginManifestSchema } from './plugin-manifest.ts';
import { isAbsent } from './plugin-path.ts';

const textOfPackage = z.string().optional().catch(undefined);
const packageJsonSchema = z.object({
  name: textOfPackage,
  version: textOfPackage,
  description: textOfPackage,
  exports: z.unknown().optional(),
});

type PackageJson = z.infer<typeof packageJsonSchema>;

export interface ManifestFiles {
  readonly folder: string;
  /** The JSON of `plugin.json`, unchecked. */
  readonly manifest: unknown;
  /** Null if the folder has no `package.json`. */
  readonly packageJson: PackageJson | null;
}

/**
 * Reads the manifest of a plugin's folder. Absent name, version and description come from the `package.json` beside it.
 * Runs no code of the plugin.
 * @throws PLUGIN_MANIFEST_UNREADABLE, PLUGIN_MANIFEST_INVALID
 */
export async function readPluginManifest(folder: string): Promise<PluginManifest> {
  return validateManifest(await readManifestFiles(folder));
}

/** @throws PLUGIN_MANIFEST_UNREADABLE */
export async function readManifestFiles(folder: string): Promise<ManifestFiles> {
  return {
    folder,
    manifest: await readJson(join(folder, 'plugin.json')),
    packageJson: await readPackageJson(join(folder, 'package.json')),
  };
}

/** @throws PLUGIN_MANIFEST_INVALID with each path and its value */
export function validateManifest({ folder, manifest, packageJson }: ManifestFiles): PluginManifest {
  const { name, version, description } = packageJson ?? {};
  const whole = isPlainObject(manifest) ? { name, version, description, ...manifest } : manifest;
  const checked = pluginManifestSchema.safeParse(whole);
  if (checked.success) return checked.data;
  const file = join(folder, 'plugin.json');
  const { text, details } = describeIssues(checked.error, whole);
  throw pluginErrors.error('PLUGIN_MANIFEST_INVALID', `${file} is not a valid manifest: ${text}`, {
    cause: checked.error,
    details: { file, ...details },
  });
}

async function readPackageJson(file: string): Promise<PackageJson | null> {
  const json = await readJson(file).catch((error: unknown) => {
    if (isAbsent((error as Error).cause)) return null;
    throw error;
  });
  if (json === null) return null;
  const checked = packageJsonSchema.safeParse(json);
  if (checked.success) return checked.data;
  throw pluginErrors.error('PLUGIN_MANIFEST_UNREADABLE', `${file} must contain a JSON object.`, {
    cause: checked.error,
    details: { file },
  });
}

const mostBytes = 10_000_000;

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(file));
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_MANIFEST_UNREADABLE',
      `${file} cannot be read as JSON: ${messageOf(cause)}`,
      { cause, details: { file } },
    );
  }
}

/** The folder of a plugin that is not trusted can contain anything: a pipe would block the process, a device never ends. */
async function readText(file: string): Promise<string> {
  await using handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = await handle.stat();
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
  return await handle.readFile('utf8');
}
