import { resolve } from 'node:path';
import type { LoadedPlugins } from '@hansard/plugin-loader';
import type { LoadedConfig } from './configuration.ts';
import { configFileName } from './find-base.ts';

interface StoreSource {
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
}

/** Where the store keeps its log: its folder, or the plugin of a store without one. */
export function storePlace({ loaded, plugins }: StoreSource): string {
  const [store] = plugins.providers('DispatchStoreProvider');
  const { root } = (store?.config ?? {}) as { readonly root?: unknown };
  if (typeof root === 'string') return resolve(loaded.baseDir, root);
  return `${store?.id ?? 'no store'}, configured in ${loaded.file ?? loaded.baseDir}`;
}

/** Where a command looked for something that it did not find, as a sentence. */
export function lookedIn(source: StoreSource): string {
  const { base } = source.loaded;
  const place = `Looked in ${storePlace(source)}`;
  if (base?.from !== 'none') return `${place}.`;
  return `${place}: neither ${base.folder} nor a folder above it has .projects or ${configFileName}.`;
}
