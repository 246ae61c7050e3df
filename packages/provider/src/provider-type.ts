import type { AgentProvider } from './agent-provider.ts';
import type { Awaitable } from './awaitable.ts';
import type { CommunicationProvider } from './communication-provider.ts';
import type { HookProvider } from './hook-provider.ts';
import type { LanguageModelProvider } from './language-model-provider.ts';
import type { LogImporterProvider } from './log-importer-provider.ts';
import type { DispatchStoreProvider } from './store/dispatch-store-provider.ts';
import type { ToolProvider } from './tool-provider.ts';

/** The provider types of Hansard by their names. Third parties add theirs by declaration merging. */
export interface ProviderTypes {
  DispatchStoreProvider: DispatchStoreProvider;
  CommunicationProvider: CommunicationProvider;
  AgentProvider: AgentProvider;
  LanguageModelProvider: LanguageModelProvider;
  ToolProvider: ToolProvider;
  HookProvider: HookProvider;
  LogImporterProvider: LogImporterProvider;
}

export type ProviderType = keyof ProviderTypes;

/** The methods that a provider of each type must have; a loader checks them when it has created one. A hook has `decide`, `observe` or both. */
export const requiredMethods = {
  DispatchStoreProvider: [
    'createDispatch',
    'claimDispatch',
    'releaseDispatch',
    'updateDispatch',
    'appendEvent',
    'appendEvents',
    'getDispatchEnvelopes',
    'listDispatches',
    'getDispatchEnvelope',
    'getDispatchEvents',
    'getRecentEvents',
    'readEvents',
    'putTask',
    'findTask',
    'listTasks',
    'close',
  ],
  CommunicationProvider: ['eventRecorded'],
  AgentProvider: ['run'],
  LanguageModelProvider: ['generate'],
  ToolProvider: ['listTools', 'callTool'],
  HookProvider: [],
  LogImporterProvider: ['detect', 'open'],
} as const satisfies { readonly [Type in ProviderType]?: readonly (keyof ProviderTypes[Type])[] };

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
  /**
   * The commands with which an administrator prepares the server of the provider and gives rights to roles, as text for the tool of that
   * server, such as SQL. `config` as for `create`. Connects to nothing. Absent: there is nothing to prepare.
   * @throws TypeError if the server has no such name for a role
   */
  setup?(config: Config, roles: SetupRoles): string;
}

/** The roles of a server for `setup`. They exist there, or the commands create them. */
export interface SetupRoles {
  /** Owns the tables. Absent: the user that runs the commands. */
  readonly owner?: string;
  /** Records. It can never change or delete what is recorded. */
  readonly writer?: string;
  /** Reads only. */
  readonly reader?: string;
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
