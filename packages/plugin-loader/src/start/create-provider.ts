import { messageOf } from '@hansard/events';
import type { Clock } from '@hansard/provider';
import { type Plugin, pluginErrors } from '@hansard/provider';
import { withinTime } from './within-time.ts';

export interface CreateOptions {
  readonly baseDir: string;
  readonly clock: Clock;
  readonly limitMs: number;
  /** Receives a provider that arrived after the time limit, to close it. */
  discard(id: string, provider: object): void;
}

/**
 * Creates the provider of a plugin. After the time limit its signal aborts, and a provider that arrives later is discarded.
 * @throws PLUGIN_CREATE_FAILED, PLUGIN_CREATE_TIMEOUT
 */
export async function createProvider(
  plugin: Plugin<string>,
  config: unknown,
  { baseDir, clock, limitMs, discard }: CreateOptions,
): Promise<object> {
  const { id } = plugin;
  const abort = new AbortController();
  const creating = create(plugin, config, { baseDir, signal: abort.signal });
  return withinTime(creating, limitMs, clock, () => {
    const error = pluginErrors.error(
      'PLUGIN_CREATE_TIMEOUT',
      `Plugin ${id} did not create its provider within ${limitMs} ms (createTimeoutMs).`,
      { details: { plugin: id, limitMs } },
    );
    abort.abort(error);
    creating.then(
      (provider) => discard(id, provider),
      () => undefined, // The timeout is reported; a rejection after the signal adds nothing.
    );
    return error;
  });
}

async function create(
  plugin: Plugin<string>,
  config: unknown,
  context: { readonly baseDir: string; readonly signal: AbortSignal },
): Promise<object> {
  const { id } = plugin;
  let provider: unknown;
  try {
    provider = await plugin.create(config, context);
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_CREATE_FAILED',
      `Plugin ${id} could not create its provider: ${messageOf(cause)}`,
      { cause, details: { plugin: id } },
    );
  }
  if (typeof provider === 'object' && provider !== null) return provider;
  throw pluginErrors.error(
    'PLUGIN_CREATE_FAILED',
    `Plugin ${id} created ${String(provider)}, which is not a provider.`,
    {
      details: { plugin: id },
    },
  );
}
