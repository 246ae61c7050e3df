import type { LoadedPlugins, LoadReport, ServerReport } from '@hansard/plugin-loader';
import { type DispatchStoreProvider, storeErrors, systemClock } from '@hansard/provider';

/** What was loaded, and what could not be. */
export interface PluginReport {
  /** With the server of each loaded store that has one. */
  readonly report: LoadReport;
  /** The plugins that could not be loaded, without stores whose server cannot be reached now. */
  readonly failed: readonly string[];
}

/** Asks the servers of the loaded stores, and reports the plugins. */
export async function reportPlugins(plugins: LoadedPlugins): Promise<PluginReport> {
  const servers = new Map<string, ServerReport | undefined>();
  for (const { id, provider } of plugins.providers('DispatchStoreProvider'))
    servers.set(id, await askServer(provider));
  const listed = plugins.report.plugins.map((entry) => {
    const server = entry.state === 'loaded' ? servers.get(entry.id) : undefined;
    return server === undefined ? entry : { ...entry, server };
  });
  const away = plugins.errors.filter(({ cause }) => storeErrors.is(cause) && cause.isTransient);
  const idsAway = new Set<unknown>(away.map(({ details }) => details.plugin));
  const failed = listed.filter(({ id, state }) => state === 'failed' && !idsAway.has(id));
  return { report: { ...plugins.report, plugins: listed }, failed: failed.map(({ id }) => id) };
}

async function askServer(store: DispatchStoreProvider): Promise<ServerReport | undefined> {
  if (store.getServer === undefined) return undefined;
  const start = systemClock.monotonic();
  try {
    const { name, version } = await store.getServer();
    return { name, version, latencyMs: systemClock.monotonic() - start };
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
