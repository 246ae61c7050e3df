import type { Awaitable } from './awaitable.ts';
import type { ProviderType, ProviderTypes } from './provider-type.ts';

/** The default export of a plugin's entry. */
export interface Plugin<Type extends string = ProviderType, Config = unknown> {
  readonly id: string;
  readonly provides: Type;
  /**
   * Creates the provider. `config` is valid for the manifest's `configSchema` and has its defaults filled in.
   * The provider's `close` must release everything that this opens.
   */
  create(
    config: Config,
    context: PluginContext,
  ): Awaitable<Type extends ProviderType ? ProviderTypes[Type] : unknown>;
}

export interface PluginContext {
  /** The folder from which relative paths in the configuration are resolved. */
  readonly baseDir: string;
  /** Aborts when the loader's time limit for `create` has passed. */
  readonly signal: AbortSignal;
}

/** Returns the plugin unchanged; TypeScript checks its shape. */
export function definePlugin<Type extends string, Config>(
  plugin: Plugin<Type, Config>,
): Plugin<Type, Config> {
  return plugin;
}
