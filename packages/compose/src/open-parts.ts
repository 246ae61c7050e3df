import { resolve } from 'node:path';
import { type CommunicationHub, type DispatchStore, uncountedModels } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { LoadedPlugins, LoadReport, ServerReport } from '@hansard/plugin-loader';
import {
  type AgentProvider,
  type DispatchStoreProvider,
  type LanguageModelProvider,
  storeErrors,
  systemClock,
} from '@hansard/provider';
import type { Agent, Session } from '@hansard/session';
import { configFileName, type LoadedConfig } from './configuration.ts';
import { type HarnessContext, noteTo } from './context.ts';
import { type HarnessError, harnessErrors } from './harness-errors.ts';

/** What a configuration opened. */
export interface OpenParts {
  readonly context: HarnessContext;
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
  readonly store: DispatchStore;
  readonly communication: CommunicationHub;
}

/** A session that a program talks in: the agent that it talks to, and the session. */
export interface Chat {
  readonly root: Agent;
  readonly session: Session;
}

/** @throws HARNESS_PROVIDER_UNKNOWN */
export function agentOf({ plugins }: Pick<OpenParts, 'plugins'>, id: string): AgentProvider {
  const agents = plugins.providers('AgentProvider');
  const found = agents.find((entry) => entry.id === id);
  if (found === undefined) throw unknownProvider('agent', id, agents);
  return found.provider;
}

/** @throws HARNESS_PROVIDER_UNKNOWN */
export function languageModelOf({ plugins }: Pick<OpenParts, 'plugins'>, id: string): LanguageModelProvider {
  const models = plugins.providers('LanguageModelProvider');
  const found = models.find((entry) => entry.id === id);
  if (found === undefined) throw unknownProvider('language model', id, models, otherModel);
  return found.provider;
}

const otherModel =
  'Name its plugin under "plugins" in hansard.config.json, or use another model: --model ID of a loaded one (`hansard plugins` lists them), or a scenario file.';

function unknownProvider(
  what: string,
  id: string,
  loaded: readonly { readonly id: string }[],
  advice?: string,
): HarnessError {
  const known = loaded.map((entry) => entry.id).join(', ') || 'none';
  return harnessErrors.error(
    'HARNESS_PROVIDER_UNKNOWN',
    `There is no ${what} ${JSON.stringify(id)} (loaded: ${known}).`,
    advice === undefined ? {} : { advice },
  );
}

/** Notes that the cost limit of the configuration did not count a dispatch, or some of its models. */
export function noteUncountedCost(
  { context, loaded: { config } }: Pick<OpenParts, 'context' | 'loaded'>,
  envelope: Pick<DispatchEnvelope, 'cost' | 'models'> | null,
): void {
  const limit = config.limits.costUsd;
  const { cost = null, models = null } = envelope ?? {};
  const names = uncountedModels(models).map(({ model }) => model);
  if (limit === undefined || names.length === 0) return;
  const what = cost === null ? 'did not count this session' : 'did not count all of this session';
  noteTo(
    context,
    `hansard: limits.costUsd (${limit}) ${what}: the log does not state what the calls of ${names.join(', ')} cost. limits.timeMs limits its time.`,
  );
}

/** Asks the servers of the loaded stores, and reports the plugins. */
export async function reportPlugins(plugins: LoadedPlugins): Promise<{
  /** With the server of each loaded store that has one. */
  readonly report: LoadReport;
  /** The plugins that could not be loaded, without stores whose server cannot be reached now. */
  readonly failed: readonly string[];
}> {
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
