import { isDeepStrictEqual } from 'node:util';
import { definedOnly } from '@hansard/events';
import type { PluginReference } from './plugin-reference.ts';

/**
 * Returns one reference for each plugin, in the place of the first, with the configuration that any of them gives, and
 * the first time limit. Plugins
 * that only `configurations` name are left out. If two configurations differ, both references stay, and the second is
 * refused later. `locate` returns null for a plugin that is not found.
 */
export async function mergeReferences(
  plugins: readonly PluginReference[],
  configurations: readonly PluginReference[],
  locate: (reference: string) => Promise<string | null>,
): Promise<readonly PluginReference[]> {
  const merged: PluginReference[] = [];
  const places = new Map<string, number>();
  for (const reference of plugins) await add(reference, true);
  for (const reference of configurations) await add(reference, false);
  return merged;

  async function add(reference: PluginReference, isToLoad: boolean): Promise<void> {
    const location = await locate(reference.plugin);
    const place = location === null ? undefined : places.get(location);
    const earlier = place === undefined ? undefined : merged[place];
    if (place === undefined || earlier === undefined) {
      if (!isToLoad) return;
      if (location !== null) places.set(location, merged.length);
      merged.push(reference);
      return;
    }
    merged[place] = { ...reference, ...definedOnly(earlier) };
    const { config } = reference;
    if (earlier.config !== undefined && config !== undefined && !isDeepStrictEqual(earlier.config, config))
      merged.push(reference);
  }
}
