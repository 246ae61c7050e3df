import { messageOf } from '@hansard/events';
import {
  type Awaitable,
  type PluginError,
  type ProviderType,
  type ProviderTypes,
  pluginErrors,
} from '@hansard/provider';
import type { LoadReport } from './load-report.ts';

/** The loaded providers, and the report of the loading. */
export interface LoadedPlugins extends AsyncDisposable {
  readonly report: LoadReport;
  /** The errors of plugins that failed or were denied, in the order of the report, each with its `cause`. */
  readonly errors: readonly PluginError[];
  /** The providers of a type, in the order of the configuration. */
  providers<Type extends ProviderType>(type: Type): readonly LoadedProvider<Type>[];
  /** The provider of the plugin with this id, if it was loaded. */
  get(id: string): LoadedProvider | undefined;
  /**
   * Closes every provider, the last created first, and also those that were created but not accepted. If one
   * fails, the others are closed too. There is no time limit. A second call returns the promise of the first.
   * @throws AggregateError of PLUGIN_CLOSE_FAILED errors
   */
  close(): Promise<void>;
}

export interface LoadedProvider<Type extends ProviderType = ProviderType> {
  /** The plugin's id. */
  readonly id: string;
  readonly type: Type;
  readonly provider: ProviderTypes[Type];
  /** As the plugin received it: checked, with defaults. */
  readonly config: unknown;
}

/** Closes providers that were not accepted, and keeps their errors for `close`. */
export class DiscardedProviders {
  readonly #closing: Promise<void>[] = [];

  /** Does not wait, so that a bad plugin does not delay the others. */
  discard(id: string, provider: object): void {
    const closing = closeProvider(id, provider);
    closing.catch(() => undefined); // `closed` reports it.
    this.#closing.push(closing);
  }

  async closed(): Promise<unknown[]> {
    return rejections(await Promise.allSettled(this.#closing));
  }
}

export class ProviderSet implements LoadedPlugins {
  readonly report: LoadReport;
  readonly errors: readonly PluginError[];
  readonly #loaded: readonly LoadedProvider[];
  readonly #discarded: DiscardedProviders;
  #closing: Promise<void> | null = null;

  constructor(
    report: LoadReport,
    errors: readonly PluginError[],
    loaded: readonly LoadedProvider[],
    discarded: DiscardedProviders,
  ) {
    this.report = report;
    this.errors = errors;
    this.#loaded = loaded;
    this.#discarded = discarded;
  }

  providers<Type extends ProviderType>(type: Type): readonly LoadedProvider<Type>[] {
    return this.#loaded.filter((loaded): loaded is LoadedProvider<Type> => loaded.type === type);
  }

  get(id: string): LoadedProvider | undefined {
    return this.#loaded.find((loaded) => loaded.id === id);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const { id, provider } of this.#loaded.toReversed()) {
      errors.push(...rejections(await Promise.allSettled([closeProvider(id, provider)])));
    }
    errors.push(...(await this.#discarded.closed()));
    if (errors.length === 0) return;
    const messages = errors.map(messageOf).join(' ');
    throw new AggregateError(errors, `Some providers could not be closed. ${messages}`);
  }
}

function rejections(results: readonly PromiseSettledResult<void>[]): unknown[] {
  return results.filter((result) => result.status === 'rejected').map((result) => result.reason);
}

/**
 * Closes a provider, if it has `close`.
 * @throws PLUGIN_CLOSE_FAILED
 */
async function closeProvider(id: string, provider: object): Promise<void> {
  try {
    await (provider as { close?: () => Awaitable<void> }).close?.();
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_CLOSE_FAILED',
      `Plugin ${id} could not close its provider: ${messageOf(cause)}`,
      { cause, details: { plugin: id } },
    );
  }
}
