import { fileURLToPath } from 'node:url';
import type { RunPage } from '@hansard/comm-web';
import {
  type CommunicationHub,
  createCommunicationHub,
  type DispatchRef,
  type DispatchStore,
  describeCommunicationProblem,
  findMalformedEvent,
  openDispatchStore,
  type StoreOutage,
} from '@hansard/dispatch';
import { isHansardError, messageOf } from '@hansard/events';
import {
  type ImportedPlugin,
  importPlugin,
  type LoadedPlugins,
  loadPlugins,
  type PluginReference,
} from '@hansard/plugin-loader';
import type { AgentProvider, StoreError } from '@hansard/provider';
import { type LoadedConfig, loadConfig, type PlaceOptions, type PluginUse } from './config.ts';
import { configuredRedactor, type RedactorLoader } from './configured-redactor.ts';
import { lookedIn } from './store-place.ts';
import { CliError, exitCode } from './terminal/cli-error.ts';
import { type CliContext, note } from './terminal/context.ts';
import { explainError } from './terminal/explain-error.ts';

/** How long calls can fail before it is worth a note, in milliseconds. */
const noteAfterMs = 1_000;

/** Agents that are installed with the command, by the names for `run --agent`. They are loaded even if no configuration names them. */
const knownAgents: Readonly<Record<string, { readonly id: string; readonly plugin: string }>> = {
  claude: { id: 'agent-claude', plugin: '@hansard/agent-claude' },
};

/** The id of the plugin that has the same page. */
const runPagePlugin = 'comm-web';

/** The open providers of a configuration. */
export interface Harness {
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
  readonly store: DispatchStore;
  /** Null: nothing is redacted. */
  readonly redactor: RedactorLoader | null;
  readonly communication: CommunicationHub;
  /** The dispatches that were opened or read. */
  readonly read: ReadonlyMap<string, DispatchRef>;
  /** The agent provider of the plugin with that id, or `claude`. */
  agent(name: string): AgentProvider;
  close(): Promise<void>;
}

export interface OpenHarnessOptions extends PlaceOptions {
  /** The plugins to load besides the store: none for a reader; `live` for a command that records. */
  readonly load: 'store' | 'live' | 'live without communication';
  /** The agent to run, as `run --agent` names it. */
  readonly agent?: string | undefined;
  /** Whether the dispatches have a page, as `run --view` asks for. */
  readonly view?: boolean | undefined;
  /** As `openDispatchStore` takes it. */
  readonly retryMs?: number;
}

export async function openHarness(context: CliContext, options: OpenHarnessOptions): Promise<Harness> {
  const loaded = loadConfig(context, options);
  const { plugins, storeId } = await loadConfigured(loaded, options.load, options.agent);
  const provider = plugins.providers('DispatchStoreProvider').find(({ id }) => id === storeId)?.provider;
  if (provider === undefined) {
    const [error] = plugins.errors;
    await plugins.close();
    throw plugins.report.plugins[0]?.state === 'loaded' ? notAStore(loaded) : (error ?? notAStore(loaded));
  }
  const read = new Map<string, DispatchRef>();
  const redactor = configuredRedactor(loaded.config.redact, context);
  const store = openDispatchStore(provider, {
    ...(redactor === null ? {} : { redact: redactor }),
    ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
    onOutage: noteOutages(context),
    onRead: ({ taskDir, dispatchId }) => read.set(`${taskDir}/${dispatchId}`, { taskDir, dispatchId }),
  });
  // `plugins` can also name a communication provider, such as the console with its configuration.
  const shown = options.load === 'live' ? plugins.providers('CommunicationProvider') : [];
  const isViewed = shown.some(({ id }) => id === runPagePlugin);
  const page = options.view === true && !isViewed ? await openRunPage(context) : null;
  const providers = [...shown.map(({ provider }) => provider), ...(page === null ? [] : [page])];
  const communication = createCommunicationHub(providers, {
    store,
    onProblem: (problem) => note(context, `hansard: ${describeCommunicationProblem(problem)}`),
  });
  // Not awaited: a slow provider does not delay the command, and receives everything when it has started.
  void communication.start();
  for (const { id, error } of plugins.report.plugins) {
    if (error !== undefined) note(context, `hansard: ${id} was not loaded: ${error.code}: ${error.message}`);
  }
  return {
    loaded,
    plugins,
    store,
    redactor,
    communication,
    read,
    agent: (name) => findAgent(plugins, agentId(name)),
    async close() {
      await communication.close();
      // A page reads the store until it is closed. The second closing, with the plugins, does nothing.
      for (const provider of providers)
        await Promise.resolve(provider.close?.()).catch((error) =>
          note(context, `hansard: a communication provider could not be closed: ${messageOf(error)}`),
        );
      for (const repair of await store.getRepairs()) {
        note(
          context,
          `hansard: repaired ${repair.place}: ${repair.reason} (${repair.removedBytes} bytes removed at byte ${repair.offset})`,
        );
      }
      await store.close();
      await plugins.close();
    },
  };
}

/** Opens the providers of a configuration for an action, and closes them after it, including after an error. */
export async function withHarness(
  context: CliContext,
  options: OpenHarnessOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const harness = await openHarness(context, options);
  try {
    await action(harness);
  } catch (error) {
    if (error instanceof CliError && error.isMissing) throw withPlace(error, harness);
    throw isExplained(error) ? error : ((await malformedEventIn(harness)) ?? error);
  } finally {
    await harness.close();
  }
}

function withPlace({ exitCode: code, message, advice, cause }: CliError, harness: Harness): CliError {
  return new CliError(code, message, `${advice}\n  ${lookedIn(harness)}`, { cause });
}

function isExplained(error: unknown): boolean {
  return (
    error instanceof CliError ||
    isHansardError(error) ||
    !(error instanceof Error) ||
    error.name === 'AbortError'
  );
}

/** The malformed event that is the likely reason for an error without a code; null if what was read is well-formed. */
async function malformedEventIn({ store, read }: Harness): Promise<StoreError | null> {
  for (const dispatch of [...read.values()]) {
    // A dispatch that cannot be read at all is not the reason.
    const found = await findMalformedEvent(store, dispatch).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}

/** The plugins installed with the command are found from its own folder, whatever the current folder. */
const packageDirs = [fileURLToPath(new URL('.', import.meta.url))];

/** Loads the code of the configured store, and does not open it. */
export function importStore({ config, baseDir }: LoadedConfig): Promise<ImportedPlugin> {
  const { pluginFolders: folders, deny } = config;
  const configurations = config.plugins.map(toReference);
  return importPlugin(toReference(config.store), { baseDir, packageDirs, configurations, folders, deny });
}

/** Loads only the configured plugins, for the report of `hansard plugins`. */
export async function loadConfigured(
  { config, baseDir }: LoadedConfig,
  load: OpenHarnessOptions['load'],
  agent?: string,
): Promise<{ readonly plugins: LoadedPlugins; readonly storeId: string | undefined }> {
  const communication = load === 'live' ? config.communication : [];
  const others = load === 'store' ? [] : [...config.plugins, ...pluginsForAgent(agent, config.plugins)];
  const plugins = await loadPlugins({
    baseDir,
    packageDirs,
    plugins: [config.store, ...communication, ...others].map(toReference),
    // A configuration of the store under `plugins` also applies to commands that only read.
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
    'Use --agent claude for Claude Code, or name the plugin of another agent under "plugins" in hansard.config.json; `hansard plugins` lists the loaded plugins.',
  );
}

/** The page of `run --view`. It prints its address when the first dispatch begins. */
async function openRunPage(context: CliContext): Promise<RunPage> {
  const { createRunPage } = await import('@hansard/comm-web');
  return createRunPage({ announce: (address) => note(context, `The page of this run: ${address}`) });
}

/** The id of the plugin of a named agent. */
function agentId(name: string): string {
  return knownAgents[name]?.id ?? name;
}

/** The plugins to load for an agent in addition to the configured ones. */
function pluginsForAgent(name: string | undefined, configured: readonly PluginUse[]): PluginUse[] {
  const known =
    name === undefined ? undefined : Object.values(knownAgents).find(({ id }) => id === agentId(name));
  if (known === undefined) return [];
  const names = configured.map((use) => (typeof use === 'string' ? use : use.plugin));
  return names.some((plugin) => plugin === known.plugin || plugin.endsWith(known.id)) ? [] : [known.plugin];
}

/** Says on standard error that the store has not answered for a second, and then that it answers again. For `onOutage`. */
export function noteOutages(context: CliContext): (outage: StoreOutage | null) => void {
  let since = 0;
  let isNoted = false;
  let timer: NodeJS.Timeout | undefined;
  return (outage) => {
    clearTimeout(timer);
    if (outage !== null) {
      since = performance.now();
      const { message } = explainError(outage.error);
      timer = setTimeout(() => {
        isNoted = true;
        const seconds = (outage.retryMs / 1_000).toLocaleString('en');
        note(
          context,
          `hansard: the store does not answer: ${message}\n  Each call is repeated for ${seconds} s.`,
        );
      }, noteAfterMs);
      // The calls that are repeated keep the process running.
      timer.unref();
    } else if (isNoted) {
      isNoted = false;
      const seconds = ((performance.now() - since) / 1_000).toFixed(1);
      note(context, `hansard: the store answers again, after ${seconds} s.`);
    }
  };
}
