export type { LoadClock } from './clock.ts';
export type { LoadCheck } from './load-check.ts';
export { type LoadPluginsOptions, loadPlugins, type PluginReference } from './load-plugins.ts';
export type { LoadReport, PluginReportEntry, PluginSource, PluginState } from './load-report.ts';
export type { LoadedPlugins, LoadedProvider } from './loaded-plugins.ts';
export { type PluginManifest, pluginManifestJsonSchema, pluginManifestSchema } from './plugin-manifest.ts';
export { readPluginManifest } from './read-plugin-manifest.ts';
export { renderLoadReport } from './render-load-report.ts';
