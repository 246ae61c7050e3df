import { messageOf } from '@hansard/events';
import { type Awaitable, PluginError } from '@hansard/provider';

/**
 * Closes a provider, if it has `close`.
 * @throws PLUGIN_CLOSE_FAILED
 */
export async function closeProvider(id: string, provider: object): Promise<void> {
  try {
    await (provider as { close?: () => Awaitable<void> }).close?.();
  } catch (cause) {
    throw new PluginError(
      'PLUGIN_CLOSE_FAILED',
      `Plugin ${id} could not close its provider: ${messageOf(cause)}`,
      { cause, details: { plugin: id } },
    );
  }
}
