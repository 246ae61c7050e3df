export { previewWithoutSecrets } from './checks/hide-secrets.ts';
export { type ImportedPlugin, importPlugin } from './import-plugin.ts';
export { type LoadPluginsOptions, loadPlugins, longestTimeout } from './load-plugins.ts';
export type { LoadedPlugins, LoadedProvider } from './loaded-plugins.ts';
export {
  type PluginManifest,
  pluginManifestJsonSchema,
  pluginManifestSchema,
} from './manifest/plugin-manifest.ts';
export { readPluginManifest } from './manifest/read-plugin-manifest.ts';
export type { PluginReference } from './plugin-reference.ts';
export type { LoadCheck } from './report/load-check.ts';
export type {
  LoadReport,
  PluginReportEntry,
  PluginSource,
  PluginState,
  ServerReport,
} from './report/load-report.ts';
export { renderLoadReport } from './report/render-load-report.ts';
