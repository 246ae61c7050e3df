import type { Awaitable } from './awaitable.ts';
import type { ProviderType, ProviderTypes } from './provider-type.ts';

/** The version of the contracts that this package holds. A manifest's `apiVersion` names the one it was written for. */
export const pluginApiVersion = 1;

/** What the entry of a plugin exports by default. */
export interface Plugin<Type extends string = ProviderType, Config = unknown> {
  readonly id: string;
  readonly provides: Type;
  /**
   * Makes the provider. `config` has been checked against the manifest's `configSchema`, with its defaults filled in.
   * What it opens, the provider's `close` gives back.
   */
  create(
    config: Config,
    context: PluginContext,
  ): Awaitable<Type extends ProviderType ? ProviderTypes[Type] : unknown>;
}

export interface PluginContext {
  /** The folder that relative paths of the configuration are relative to. */
  readonly baseDir: string;
  /** Aborted when the loader's time limit for creating has passed. */
  readonly signal: AbortSignal;
}

/** Checks a plugin's shape while it is written; gives it back as it is. */
export function definePlugin<Type extends string, Config>(
  plugin: Plugin<Type, Config>,
): Plugin<Type, Config> {
  return plugin;
}
