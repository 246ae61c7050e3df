import { constants, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { describeIssues, isPlainObject, messageOf } from '@hansard/events';
import { pluginErrors } from '@hansard/provider';
import { z } from 'zod';

const segment = String.raw`(?!\.{1,2}(?:/|$))[^/\\:]+`;

/**
 * `plugin.json`: the description of a plugin, read without running its code. Unknown keys are ignored, so that a manifest
 * for a newer minor version still loads; the JSON Schema for editors reports them.
 */
export const pluginManifestSchema = z.object({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'must be lower kebab case, such as store-jsonfile')
    .describe('Unique among the plugins of a configuration; lower kebab case.'),
  provides: z
    .string()
    .max(64)
    .regex(
      /^[A-Z][A-Za-z0-9]*Provider$/,
      'must be the name of a provider type, such as DispatchStoreProvider',
    )
    .describe('The provider type, such as DispatchStoreProvider.'),
  entry: z
    .string()
    .regex(
      new RegExp(`^(?:\\./)?${segment}(?:/${segment})*$`),
      'must be a relative path with / that stays inside the folder of the plugin, such as ./dist/index.js',
    )
    .describe('The module whose default export is the plugin, relative to this file.'),
  apiVersion: z
    .int()
    .min(1)
    .describe('The version of the Hansard contracts that the plugin was written for.'),
  configSchema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('JSON Schema (draft 2020-12) of the configuration; its defaults are filled in.'),
  name: z.string().optional().describe("For people. Absent: the package's name."),
  version: z.string().optional().describe("Absent: the package's version."),
  description: z.string().optional().describe("Absent: the package's description."),
});

export type PluginManifest = z.infer<typeof pluginManifestSchema>;

/** JSON Schema (draft 2020-12) of `plugin.json`, for editors. It allows no other keys, so that editors report a mistyped key. */
export function pluginManifestJsonSchema(): Record<string, unknown> {
  const { properties, ...schema } = z.toJSONSchema(pluginManifestSchema);
  return {
    title: 'Hansard plugin manifest',
    ...schema,
    properties: { $schema: { type: 'string' }, ...properties },
  };
}

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

/** Whether a path is the folder itself or below it. Both are absolute, with links followed. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether an error of the file system means that the file or folder does not exist. */
export function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether a folder has a `plugin.json`, readable or not. */
export function hasManifest(folder: string): boolean {
  try {
    statSync(join(folder, 'plugin.json'));
    return true;
  } catch (error) {
    return !isAbsent(error);
  }
}
