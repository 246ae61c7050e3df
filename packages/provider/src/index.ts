export type {
  CapturedEvent,
  Delta,
  DispatchEnvelope,
  EnvelopeUpdates,
  Fidelity,
  JsonObject,
  JsonValue,
  NewEvent,
  TaskRecord,
  Usage,
} from '@hansard/events';
export { defineErrors, type HansardError, isHansardError } from '@hansard/events/hansard-error';
export type {
  AgentHost,
  AgentInfo,
  Delivery,
  DeliveryOutcome,
  NewAgent,
} from './agent-host.ts';
export type {
  AgentActivity,
  AgentProvider,
  AgentRunRequest,
  AgentToolCall,
  OfferedTool,
  ToolCallVerdict,
} from './agent-provider.ts';
export type { Awaitable } from './awaitable.ts';
export { type Clock, systemClock } from './clock.ts';
export type {
  CommunicationHost,
  CommunicationProvider,
  DeltaNotice,
  DispatchNotice,
  DispatchStartNotice,
  EventNotice,
  IncomingMessage,
  IncomingSource,
  IncomingTask,
} from './communication-provider.ts';
export { type ContractVersion, contractVersion, describeContractProblem } from './contract-version.ts';
export type { DispatchHost, NewWorker, OutgoingMessage, ReachableDispatch } from './dispatch-host.ts';
export type { HookAgents, HookHost, HookObservation } from './hook-host.ts';
export type {
  DeliveryQuestion,
  HookDecision,
  HookProvider,
  HookQuestion,
  InputQuestion,
  PersonQuestion,
  RunningToolCall,
  ToolCallQuestion,
  ToolResultQuestion,
  UtteranceQuestion,
} from './hook-provider.ts';
export type {
  LanguageModelProvider,
  ModelFile,
  ModelMessage,
  ModelRequest,
  ModelResponse,
  ModelToolCall,
  ToolChoice,
  ToolDefinition,
} from './language-model-provider.ts';
export type {
  LogContext,
  LogFile,
  LogHead,
  LogImporterProvider,
  LogRest,
  LogSource,
  LogSummary,
  OpenLog,
  ReadOpenLogOptions,
} from './log-importer-provider.ts';
export { LoggedString } from './logged-string.ts';
export { type PluginError, pluginErrors } from './plugin-errors.ts';
export {
  definePlugin,
  type Plugin,
  type PluginContext,
  type ProviderType,
  type ProviderTypes,
  requiredMethods,
  type SetupRoles,
} from './provider-type.ts';
export {
  compareByStart,
  type DispatchListing,
  type DispatchPage,
  type ListDispatchesOptions,
} from './store/dispatch-listing.ts';
export type {
  ClaimState,
  DispatchClaim,
  DispatchDamage,
  DispatchRewrite,
  DispatchRewritten,
  DispatchStoreProvider,
  DispatchVerification,
  EventPage,
  ReadEventsOptions,
  RemainsScope,
  StoreRepair,
  StoreServer,
  TaskListing,
} from './store/dispatch-store-provider.ts';
export {
  EventWords,
  foldWord,
  indexedText,
  type PlacedWord,
  placedWords,
  queryWords,
  type SearchEventsOptions,
  type SearchHit,
  splitWords,
  stringsOf,
  unsearchableKeys,
} from './store/search-text.ts';
export type { StoreCapabilities } from './store/store-capabilities.ts';
export { isUnreadable, type StoreError, storeErrors } from './store/store-errors.ts';
export { assertDispatchId, assertTaskDir, isInternalTask } from './store/store-path.ts';
export type { StopWatching, WatchScope } from './store/watch-scope.ts';
export type { ToolAnswer, ToolCall, ToolOutcome, ToolProvider } from './tool-provider.ts';
