import { fileURLToPath } from 'node:url';
import {
  type CommunicationHub,
  createCommunicationHub,
  type DispatchStore,
  describeCommunicationProblem,
  openDispatchStore,
} from '@hansard/dispatch';
import { type LoadedPlugins, loadPlugins, type PluginReference } from '@hansard/plugin-loader';
import type { AgentProvider } from '@hansard/provider';
import { type LoadedConfig, loadConfig, type PluginUse } from './config.ts';
import { agentId, pluginsForAgent } from './run/known-agents.ts';
import { CliError, exitCode } from './terminal/cli-error.ts';
import { type CliContext, note } from './terminal/context.ts';

/** The providers of a configuration, put together. */
export interface Harness {
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
  readonly store: DispatchStore;
  readonly communication: CommunicationHub;
  /** The agent provider of the plugin with that id, or `claude`. */
  agent(name: string): AgentProvider;
  close(): Promise<void>;
}

export interface OpenHarnessOptions {
  readonly config: string | undefined;
  /** What to load beside the store: nothing for a reader; `live` for a command that records. */
  readonly load: 'store' | 'live' | 'live without communication';
  /** The agent that shall run, as `run --agent` names it. */
  readonly agent?: string | undefined;
}

export async function openHarness(context: CliContext, options: OpenHarnessOptions): Promise<Harness> {
  const loaded = loadConfig(context.cwd, options.config);
  const { plugins, storeId } = await loadConfigured(loaded, options.load, options.agent);
  const provider = plugins.providers('DispatchStoreProvider').find(({ id }) => id === storeId)?.provider;
  if (provider === undefined) {
    const [error] = plugins.errors;
    await plugins.close();
    throw plugins.report.plugins[0]?.state === 'loaded' ? notAStore(loaded) : (error ?? notAStore(loaded));
  }
  const store = openDispatchStore(provider);
  // `plugins` may name one, too, such as the console with its configuration.
  const shown = options.load === 'live' ? plugins.providers('CommunicationProvider') : [];
  const communication = createCommunicationHub(
    shown.map((entry) => entry.provider),
    { onProblem: (problem) => note(context, `hansard: ${describeCommunicationProblem(problem)}`) },
  );
  // Not waited for: a provider that is slow to start holds up nobody, and gets all that happened when it has started.
  void communication.start();
  for (const { id, error } of plugins.report.plugins) {
    if (error !== undefined) note(context, `hansard: ${id} was not loaded: ${error.code}: ${error.message}`);
  }
  return {
    loaded,
    plugins,
    store,
    communication,
    agent: (name) => findAgent(plugins, agentId(name)),
    async close() {
      await communication.close();
      for (const repair of await store.getRepairs()) {
        note(
          context,
          `hansard: repaired ${repair.place}: ${repair.reason} (${repair.removedBytes} bytes from byte ${repair.offset} on)`,
        );
      }
      await store.close();
      await plugins.close();
    },
  };
}

/** Loads what a configuration names and nothing else, for the report of `hansard plugins`. */
export async function loadConfigured(
  { config, baseDir }: LoadedConfig,
  load: OpenHarnessOptions['load'],
  agent?: string,
): Promise<{ readonly plugins: LoadedPlugins; readonly storeId: string | undefined }> {
  const communication = load === 'live' ? config.communication : [];
  const others = load === 'store' ? [] : [...config.plugins, ...pluginsForAgent(agent, config.plugins)];
  const plugins = await loadPlugins({
    baseDir,
    // The plugins that come with the command are found from where it lies, whatever folder it is called in.
    packageDirs: [fileURLToPath(new URL('.', import.meta.url))],
    plugins: [config.store, ...communication, ...others].map(toReference),
    // Whoever configures the store there means it for those who only read, too.
    configurations: load === 'store' ? config.plugins.map(toReference) : [],
    folders: config.pluginFolders,
    deny: config.deny,
  });
  return { plugins, storeId: plugins.report.plugins[0]?.id };
}

function toReference(use: PluginUse): PluginReference {
  return typeof use === 'string' ? { plugin: use } : use;
}

function notAStore({ config }: LoadedConfig): CliError {
  const name = toReference(config.store).plugin;
  return new CliError(
    exitCode.usage,
    `${name} is not a store.`,
    'The "store" of hansard.config.json must be a plugin that provides a DispatchStoreProvider.',
  );
}

function findAgent(plugins: LoadedPlugins, id: string): AgentProvider {
  const agents = plugins.providers('AgentProvider');
  const found = agents.find((entry) => entry.id === id);
  if (found !== undefined) return found.provider;
  const known = agents.map((entry) => entry.id).join(', ') || 'none';
  throw new CliError(
    exitCode.usage,
    `There is no agent ${JSON.stringify(id)} (loaded: ${known}).`,
    'Say --agent claude for Claude Code, or name the plugin of another under "plugins" in hansard.config.json; `hansard plugins` shows what is loaded.',
  );
}
