export { previewWithoutSecrets } from './checks/hide-secrets.ts';
export {
  type ImportedPlugin,
  type InspectedPlugin,
  importPlugin,
  inspectPlugins,
  loadPlugins,
  longestTimeout,
  type PluginReference,
} from './load-plugins.ts';
export { type LoadReport, renderLoadReport, type ServerReport } from './load-report.ts';
export type { LoadedPlugins, LoadedProvider } from './loaded-plugins.ts';
export { pluginManifestJsonSchema } from './plugin-manifest.ts';
