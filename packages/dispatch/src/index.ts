export { untilAborted } from './async/until-aborted.ts';
export { excludedTask, watchTask } from './check-arguments.ts';
export {
  type CommunicationHub,
  createCommunicationHub,
  type IncomingTasks,
} from './communication/communication-hub.ts';
export { describeCommunicationProblem } from './communication/communication-problem.ts';
export { LetterInbox } from './communication/letter-inbox.ts';
export { describeFailure } from './describe-failure.ts';
export { dispatchErrors } from './dispatch-errors.ts';
export { HeapRestraint } from './heap-restraint.ts';
export { HookObservers } from './hooks/hook-observers.ts';
export { type HookPart, HookTime, hookLinks } from './hooks/hook-part.ts';
export type { LoopLimits } from './limits/loop-detector.ts';
export {
  dispatchesWithNotes,
  type NewNote,
  type Note,
  NoteWriter,
  readNotes,
} from './notes/notes.ts';
export { openTaskSource } from './open-task-source.ts';
export { checkOptions, type OptionCheck, optionChecks } from './option-checks.ts';
export type { DispatchRedaction } from './redaction/dispatch-redaction.ts';
export { familyOf, runDispatch, startDispatch } from './run/begin-dispatch.ts';
export { closeAbandonedDispatches } from './run/close-abandoned-dispatches.ts';
export { completionUpdates } from './run/completion.ts';
export type { DispatchRun, MessageSource } from './run/dispatch-run.ts';
export { HookChains } from './run/run-hooks.ts';
export { type GivenOutcomes, type RunDispatchOptions, watchedChecks } from './run/run-options.ts';
export { uncountedModels, Watch } from './run/watch.ts';
export type { RunLimits, WorkerOptions } from './run/worker-options.ts';
export { type DispatchHits, type SearchedStore, searchDispatches } from './search/search-dispatches.ts';
export type {
  AcceptedEvents,
  AgentWriter,
  Dispatch,
  DispatchEnd,
  LoggedFacts,
  NewDispatch,
  WriterOptions,
} from './store/dispatch.ts';
export type {
  DispatchEntries,
  DispatchEntry,
  ListedDispatch,
  TaskFollowItem,
  UnreadableDispatch,
} from './store/dispatch-entry.ts';
export type { DispatchLog, PositionedEvent } from './store/dispatch-log.ts';
export { type DispatchRef, toDispatchRef } from './store/dispatch-ref.ts';
export type {
  DispatchStore,
  LetterState,
  ReadAccess,
  StoredLetter,
  WriteAccess,
} from './store/dispatch-store.ts';
export { ensureTaskOf, ensureTaskRecord, type TaskProblemListener } from './store/ensure-task-record.ts';
export type { FollowItem, FollowOptions } from './store/follow-item.ts';
export { findMalformedEvent } from './store/malformed-events.ts';
export { openDispatchStore } from './store/open-dispatch-store.ts';
export type { DispatchStoreOptions, StoreOutage } from './store/store-options.ts';
export type {
  DispatchStream,
  LiveStreamOptions,
  StreamedEvent,
  StreamItem,
} from './streams/dispatch-stream.ts';
export { handleStream } from './streams/handle-stream.ts';
export { type Replay, type ReplayPace, replayDispatch } from './streams/replay-dispatch.ts';
export { defaultHookTimeoutMs } from './tools/answer-in-time.ts';
export { askAboutCall, askAboutResult, type HookedCall, textOfDecision } from './tools/ask-about-call.ts';
export { askHooks, blockedText, decides, type HookAsking, type HookVerdict } from './tools/ask-hooks.ts';
export { openToolbox, type Toolbox } from './tools/toolbox.ts';
export { callOver, useTool } from './tools/use-tool.ts';
export { CopiesAmong, copiedEvents } from './usage/find-copies.ts';
export { type UsageKey, type UsageOfKeys, type UsageSummary, usageKeys, usageOf } from './usage/usage-of.ts';
