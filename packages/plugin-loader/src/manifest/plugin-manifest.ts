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
