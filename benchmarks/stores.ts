import { readFileSync } from 'node:fs';
import type { DispatchStoreProvider } from '../packages/provider/src/index.ts';

/** The stores that are measured, by the folder of their plugin. */
export const storeNames = ['store-jsonfile', 'store-sqlite'] as const;
export type StoreName = (typeof storeNames)[number];

interface StorePlugin {
  create(config: object, context: { baseDir: string; signal: AbortSignal }): Promise<DispatchStoreProvider>;
}

/** Opens a store as a configuration without a word about it would: every option at its default. */
export async function openStore(name: StoreName, baseDir: string): Promise<DispatchStoreProvider> {
  const folder = new URL(`../plugins/${name}/`, import.meta.url);
  const manifest = JSON.parse(readFileSync(new URL('plugin.json', folder), 'utf8')) as {
    configSchema: { properties: Record<string, { default?: unknown }> };
  };
  const config = Object.fromEntries(
    Object.entries(manifest.configSchema.properties).map(([key, schema]) => [key, schema.default]),
  );
  const { default: plugin } = (await import(new URL('src/index.ts', folder).href)) as {
    default: StorePlugin;
  };
  return plugin.create(config, { baseDir, signal: new AbortController().signal });
}
