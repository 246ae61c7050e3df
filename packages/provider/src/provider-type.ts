import type { AgentProvider } from './agent-provider.ts';
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
