export { previewWithoutSecrets } from './checks/hide-secrets.ts';
export { type ImportedPlugin, importPlugin } from './import-plugin.ts';
export type { PluginReference } from './load-plugins.ts';
export { type LoadPluginsOptions, loadPlugins, longestTimeout } from './load-plugins.ts';
export type {
  LoadCheck,
  LoadReport,
  PluginReportEntry,
  PluginSource,
  PluginState,
  ServerReport,
} from './load-report.ts';
export { renderLoadReport } from './load-report.ts';
export type { LoadedPlugins, LoadedProvider } from './loaded-plugins.ts';
export { pluginManifestJsonSchema } from './plugin-manifest.ts';
