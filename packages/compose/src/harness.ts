import {
  type CommunicationHub,
  createCommunicationHub,
  type DispatchRef,
  type DispatchStore,
  describeCommunicationProblem,
  type IncomingTasks,
  openDispatchStore,
  type StoreOutage,
} from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, messageOf } from '@hansard/events';
import type { ImportItem, ProductSurvey, SourceWatcher } from '@hansard/import';
import {
  type ImportedPlugin,
  importPlugin,
  type LoadedPlugins,
  loadPlugins,
  type PluginReference,
} from '@hansard/plugin-loader';
import type { AgentProvider, CommunicationProvider, LanguageModelProvider } from '@hansard/provider';
import type { PriorOutcomes } from '@hansard/views';
import type { ChatOptions, ResumeChatOptions } from './chat.ts';
import { type LoadedConfig, loadConfig, type PlaceOptions, type PluginUse } from './configuration.ts';
import { configuredRedactor, type RedactorLoader } from './configured-redactor.ts';
import { type HarnessContext, inWords, noteTo } from './context.ts';
import type { Exported, ExportOptions } from './exports/export-in-harness.ts';
import type { ExportParts, ExportReading, OpenedSource } from './exports/export-source.ts';
import type { ImportedVerdicts, JudgingOptions, PackedSession, PackOptions } from './exports/judging.ts';
import { type HarnessError, harnessErrors } from './harness-errors.ts';
import type { HarnessImportOptions, HarnessWatchOptions } from './import-logs.ts';
import { agentOf, type Chat, languageModelOf, type OpenParts } from './open-parts.ts';
import type { RunOptions } from './run/run-in-harness.ts';
import type { SessionOfFile } from './sessions/session-of-file.ts';

/** How long calls can fail before it is worth a note, in milliseconds. */
const noteAfterMs = 1_000;

export interface OpenHarnessOptions extends HarnessContext, PlaceOptions {
  /**
   * The plugins to load. `live`: all that the configuration names. `record`: all but the communication providers. `store`: the store, for
   * a program that only reads. Absent: `live`.
   */
  readonly load?: 'store' | 'record' | 'live';
  /** Plugins that are loaded besides the configured ones, unless the configuration names them or denies them. */
  readonly plugins?: readonly PluginUse[];
  /** Folders from which plugins are found, besides that of the configuration: as a rule that of the program, which depends on them. */
  readonly packageDirs?: readonly string[];
  /** Communication providers of the program, besides those of the configuration. The harness closes them. */
  readonly communication?: readonly CommunicationProvider[];
  /** As `openDispatchStore` takes it, in milliseconds. */
  readonly retryMs?: number;
}

/**
 * Opens what a configuration names: its plugins, the store, and who shows and controls the dispatches.
 * @throws HARNESS_CONFIG_INVALID, HARNESS_FOLDER_MISSING, HARNESS_FOLDER_FOREIGN, HARNESS_NO_STORE, and the error of a store that can't be opened
 */
export async function openHarness(options: OpenHarnessOptions): Promise<Harness> {
  const loaded = loadConfig(options, options);
  const { plugins, storeId } = await loadConfigured(loaded, options);
  const provider = plugins.providers('DispatchStoreProvider').find(({ id }) => id === storeId)?.provider;
  if (provider === undefined) {
    const [error] = plugins.errors;
    await plugins.close();
    throw plugins.report.plugins[0]?.state === 'loaded' ? notAStore(loaded) : (error ?? notAStore(loaded));
  }
  const read = new Map<string, DispatchRef>();
  const redactor = configuredRedactor(loaded.config.redact, options);
  const store = openDispatchStore(provider, {
    ...(redactor === null ? {} : { redact: redactor }),
    ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
    onOutage: noteOutages(options),
    onRead: ({ taskDir, dispatchId }) => read.set(`${taskDir}/${dispatchId}`, { taskDir, dispatchId }),
  });
  const shown = (options.load ?? 'live') === 'live' ? plugins.providers('CommunicationProvider') : [];
  const providers = [...shown.map((entry) => entry.provider), ...(options.communication ?? [])];
  let harness: Harness | null = null;
  const communication = createCommunicationHub(providers, {
    store,
    ...incomingTasks(loaded, () => harness),
    onProblem: (problem) => noteTo(options, `hansard: ${describeCommunicationProblem(problem)}`),
  });
  // Not awaited: a slow provider does not delay the program, and receives everything when it has started.
  void communication.start();
  for (const { id, error } of plugins.report.plugins) {
    if (error !== undefined)
      noteTo(options, `hansard: ${id} was not loaded: ${error.code}: ${error.message}`);
  }
  for (const { id } of plugins.providers('DispatchStoreProvider'))
    if (id !== storeId)
      noteTo(
        options,
        `hansard: ${id} is a store, and ${storeId} records. Name it as "store" in the configuration to use it.`,
      );
  harness = new Harness(options, { loaded, plugins, store, redactor, communication, read, providers });
  return harness;
}

/** How communication providers begin tasks, if the configuration lets them. */
function incomingTasks(
  { config: { incomingTasks: allowed } }: LoadedConfig,
  harnessOf: () => Harness | null,
): { readonly incoming?: IncomingTasks } {
  if (allowed === undefined) return {};
  return {
    incoming: {
      ...definedOnly({ maxRunning: allowed.maxRunning }),
      async begin(task) {
        const { beginIncoming } = await import('./run/run-in-harness.ts');
        // The hub is opened before the harness, in the same turn.
        return beginIncoming(harnessOf() as Harness, allowed, task);
      },
    },
  };
}

interface HarnessParts extends Omit<OpenParts, 'context'> {
  readonly redactor: RedactorLoader | null;
  readonly read: ReadonlyMap<string, DispatchRef>;
  readonly providers: readonly CommunicationProvider[];
}

/** The open providers of a configuration, and what a program does with them. It is made by `openHarness`. */
export class Harness implements ExportParts, AsyncDisposable {
  readonly context: HarnessContext;
  readonly loaded: LoadedConfig;
  readonly plugins: LoadedPlugins;
  readonly store: DispatchStore;
  /** Null: nothing is redacted. */
  readonly redactor: RedactorLoader | null;
  readonly communication: CommunicationHub;
  /** The dispatches that were opened or read. */
  readonly read: ReadonlyMap<string, DispatchRef>;
  readonly #providers: readonly CommunicationProvider[];
  #closed: Promise<void> | null = null;

  constructor(context: HarnessContext, parts: HarnessParts) {
    this.context = context;
    this.loaded = parts.loaded;
    this.plugins = parts.plugins;
    this.store = parts.store;
    this.redactor = parts.redactor;
    this.communication = parts.communication;
    this.read = parts.read;
    this.#providers = parts.providers;
  }

  /** The agent provider of the plugin with that id. @throws HARNESS_PROVIDER_UNKNOWN */
  agent(id: string): AgentProvider {
    return agentOf(this, id);
  }

  /** The language model of the plugin with that id. @throws HARNESS_PROVIDER_UNKNOWN */
  languageModel(id: string): LanguageModelProvider {
    return languageModelOf(this, id);
  }

  /**
   * Runs an agent and records it, with the tools, hooks, limits and workers of the configuration. Resolves when it has ended, however it ended:
   * look at `status`.
   * @throws HARNESS_PROVIDER_UNKNOWN, HARNESS_NAME_INVALID, HARNESS_NOT_FOUND, HARNESS_NOT_RESUMABLE, and the errors of the store
   */
  async run(options: RunOptions): Promise<DispatchEnvelope> {
    const { runInHarness } = await import('./run/run-in-harness.ts');
    return runInHarness(this, options);
  }

  /**
   * Begins a session with a language model of the configuration, or one of the program. Close the session to end it.
   * @throws HARNESS_PROVIDER_UNKNOWN, HARNESS_NAME_INVALID, and the errors of the store
   */
  async chat(options: ChatOptions): Promise<Chat> {
    const { beginChat } = await import('./chat.ts');
    return beginChat(this, options);
  }

  /**
   * Continues a session at the end of its log. A word that names an existing `.json` or `.jsonl` file continues the session log in it, in
   * its copy: see `sessionOfFile`.
   * @throws HARNESS_NOT_RESUMABLE, HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS, HARNESS_PROVIDER_UNKNOWN, and the errors of the session
   */
  async resumeChat(
    session: string | DispatchRef | SessionOfFile,
    options: ResumeChatOptions = {},
  ): Promise<Chat> {
    const { resumeChat } = await import('./chat.ts');
    return resumeChat(this, session, options);
  }

  /**
   * Reads a session log of another program (session-v1, session-v2 or smallchat), and finds its copy, where its session continues. Nothing is written:
   * `resumeChat` imports a file that was not copied yet. The file is never written.
   * @throws HARNESS_NOT_RESUMABLE, HARNESS_AMBIGUOUS, HARNESS_NAME_INVALID, and the errors of imports and of the store
   */
  async sessionOfFile(file: string, task?: string): Promise<SessionOfFile> {
    const { sessionOfFile } = await import('./sessions/session-of-file.ts');
    return sessionOfFile(this, file, task);
  }

  /** Imports all logs below some paths, with the known importers and those of plugins. A failed log is an item, and stops no other. */
  async *import(paths: readonly string[], options: HarnessImportOptions = {}): AsyncGenerator<ImportItem> {
    const { importInHarness } = await import('./import-logs.ts');
    yield* importInHarness(this, paths, options);
  }

  /** What the products whose sessions Hansard knows have below a home folder. No other folder is read. */
  async surveyProducts(home: string): Promise<ProductSurvey[]> {
    const { surveyInHarness } = await import('./import-logs.ts');
    return surveyInHarness(this, home);
  }

  /**
   * Claims the watch of a home folder: what products write there is imported as they write it. Close the watcher to end the claim.
   * @throws STORE_LOCKED if another process watches the same home folder for this store
   */
  async watch(options: HarnessWatchOptions): Promise<SourceWatcher> {
    const { watchInHarness } = await import('./import-logs.ts');
    return watchInHarness(this, options);
  }

  /**
   * Writes sessions in another format: reports, traces, training data. Secrets are replaced as the configuration says. A file or folder has
   * its name when it is complete, and a failed export leaves none.
   * @throws HARNESS_OPTION_INVALID, HARNESS_FILE_UNUSABLE, HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS, and the errors of the format and the store
   */
  async export(options: ExportOptions): Promise<Exported> {
    const { exportInHarness } = await import('./exports/export-in-harness.ts');
    return exportInHarness(this, options);
  }

  /** Reads a session as an export does: without the secrets that the configuration replaces. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
  async openSource(session: string, reading: ExportReading = {}): Promise<OpenedSource> {
    const { openSessionSource } = await import('./exports/export-source.ts');
    return openSessionSource(this, session, reading);
  }

  /**
   * Writes the packets of a session for blind judges into a new folder.
   * @throws as `export`, and what `accept` throws
   */
  async packForJudges(session: string, options: PackOptions): Promise<PackedSession> {
    const { packInHarness } = await import('./exports/judging.ts');
    return packInHarness(this, session, options);
  }

  /** Appends the verdicts of a file to the log of the judged session. @throws FORMAT_VERDICT_INVALID, and as `export` */
  async importVerdicts(session: string, file: string, options: JudgingOptions): Promise<ImportedVerdicts> {
    const { importVerdictsInHarness } = await import('./exports/judging.ts');
    return importVerdictsInHarness(this, session, file, options);
  }

  /** The outcomes of sessions of a task, as a text for a prompt and as rows. */
  async priorOutcomes(taskDir: string, envelopes: readonly DispatchEnvelope[]): Promise<PriorOutcomes> {
    const { readPriorOutcomes } = await import('./run/earlier-outcomes.ts');
    return readPriorOutcomes(this.store, taskDir, envelopes);
  }

  /** Closes the communication, the store and the plugins, once. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { context } = this;
    await this.communication.close();
    // A page reads the store until it is closed. The second closing, with the plugins, does nothing.
    for (const provider of this.#providers)
      await Promise.resolve(provider.close?.()).catch((error) =>
        noteTo(context, `hansard: a communication provider could not be closed: ${messageOf(error)}`),
      );
    for (const { place, reason, removedBytes, offset } of await this.store.getRepairs())
      noteTo(
        context,
        `hansard: repaired ${place}: ${reason} (${removedBytes} bytes removed at byte ${offset})`,
      );
    await this.store.close();
    await this.plugins.close();
  }
}

/** Loads the code of the configured store, and does not open it. */
export function importStore(
  { config, baseDir }: LoadedConfig,
  packageDirs: readonly string[] = [],
): Promise<ImportedPlugin> {
  const { pluginFolders: folders, deny } = config;
  const configurations = config.plugins.map(toReference);
  return importPlugin(toReference(config.store), { baseDir, packageDirs, configurations, folders, deny });
}

/** Loads only the configured plugins, and opens no store. */
export async function loadConfigured(
  { config, baseDir }: LoadedConfig,
  {
    load = 'live',
    plugins: more = [],
    packageDirs = [],
  }: Pick<OpenHarnessOptions, 'load' | 'plugins' | 'packageDirs'>,
): Promise<{ readonly plugins: LoadedPlugins; readonly storeId: string | undefined }> {
  const communication = load === 'live' ? config.communication : [];
  const others = load === 'store' ? [] : [...config.plugins, ...notNamed(more, config.plugins)];
  const plugins = await loadPlugins({
    baseDir,
    packageDirs,
    plugins: [config.store, ...communication, ...others].map(toReference),
    // A configuration of the store under `plugins` also applies to programs that only read.
    configurations: load === 'store' ? config.plugins.map(toReference) : [],
    folders: config.pluginFolders,
    deny: config.deny,
  });
  return { plugins, storeId: plugins.report.plugins[0]?.id };
}

/** The plugins that the configuration does not name: by package, or by the id at the end of the package's name. */
function notNamed(more: readonly PluginUse[], configured: readonly PluginUse[]): PluginUse[] {
  const names = configured.map((use) => toReference(use).plugin);
  return more.filter((use) => {
    const { plugin } = toReference(use);
    const id = plugin.slice(plugin.lastIndexOf('/') + 1);
    return !names.some((name) => name === plugin || name.endsWith(id));
  });
}

function toReference(use: PluginUse): PluginReference {
  return typeof use === 'string' ? { plugin: use } : use;
}

function notAStore({ config }: LoadedConfig): HarnessError {
  return harnessErrors.error('HARNESS_NO_STORE', `${toReference(config.store).plugin} is not a store.`);
}

/** Notes that the store has not answered for a second, and then that it answers again. For `onOutage`. */
export function noteOutages(context: HarnessContext): (outage: StoreOutage | null) => void {
  let since = 0;
  let isNoted = false;
  let timer: NodeJS.Timeout | undefined;
  return (outage) => {
    clearTimeout(timer);
    if (outage !== null) {
      since = performance.now();
      timer = setTimeout(() => {
        isNoted = true;
        const seconds = (outage.retryMs / 1_000).toLocaleString('en');
        noteTo(
          context,
          `hansard: the store does not answer: ${inWords(outage.error)}\n  Each call is repeated for ${seconds} s.`,
        );
      }, noteAfterMs);
      // The calls that are repeated keep the process running.
      timer.unref();
    } else if (isNoted) {
      isNoted = false;
      const seconds = ((performance.now() - since) / 1_000).toFixed(1);
      noteTo(context, `hansard: the store answers again, after ${seconds} s.`);
    }
  };
}
