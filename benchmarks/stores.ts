import type { DispatchStoreProvider } from '@hansard/provider';
import jsonFile from '@hansard/store-jsonfile';
import jsonFileManifest from '@hansard/store-jsonfile/plugin.json' with { type: 'json' };
import sqlite from '@hansard/store-sqlite';
import sqliteManifest from '@hansard/store-sqlite/plugin.json' with { type: 'json' };

const stores = {
  'store-jsonfile': { plugin: jsonFile, manifest: jsonFileManifest },
  'store-sqlite': { plugin: sqlite, manifest: sqliteManifest },
} as const;

export type StoreName = keyof typeof stores;

/** The measured stores, by the id of their plugin. */
export const storeNames = Object.keys(stores) as StoreName[];

interface StorePlugin {
  create(config: object, context: { baseDir: string; signal: AbortSignal }): Promise<DispatchStoreProvider>;
}

/** Opens a store with the default of every option. */
export async function openStore(name: StoreName, baseDir: string): Promise<DispatchStoreProvider> {
  const { plugin, manifest } = stores[name];
  const properties: Record<string, { default?: unknown }> = manifest.configSchema.properties;
  const config = Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, schema.default]));
  return (plugin as StorePlugin).create(config, { baseDir, signal: new AbortController().signal });
}
