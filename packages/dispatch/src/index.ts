export {
  askHooks,
  blockedText,
  type HookAsking,
  type HookDenial,
  type HookInquiry,
  type HookVerdict,
} from './ask-hooks.ts';
export { type Clock, systemClock } from './clock.ts';
export { type CloseAbandonedOptions, closeAbandonedDispatches } from './close-abandoned-dispatches.ts';
export {
  type CommunicationHub,
  type CommunicationHubOptions,
  createCommunicationHub,
} from './communication-hub.ts';
export { type CommunicationProblem, describeCommunicationProblem } from './communication-problem.ts';
export { completionUpdates } from './completion.ts';
export { describeFailure } from './describe-failure.ts';
export type { DispatchRun, MessageSource } from './dispatch-run.ts';
export type { DispatchStore, NewDispatch } from './dispatch-store.ts';
export type { FollowItem, FollowOptions } from './follow.ts';
export { type DispatchHold, holdDispatch } from './hold-dispatch.ts';
export { defaultLoopLimits, type LoopLimits } from './loop-detector.ts';
export { type DispatchStoreOptions, openDispatchStore } from './open-dispatch-store.ts';
export { runDispatch, startDispatch } from './run-dispatch.ts';
export type { RunDispatchOptions, RunLimits } from './run-options.ts';
export type {
  DispatchStream,
  LiveStreamOptions,
  StreamedEvent,
  StreamItem,
  StreamOptions,
} from './streams/dispatch-stream.ts';
export { type HandleStreamOptions, handleStream, type StreamHandlers } from './streams/handle-stream.ts';
export { LiveFeed } from './streams/live-feed.ts';
export { type Replay, type ReplayOptions, replayDispatch } from './streams/replay-dispatch.ts';
export type { ReplayPace } from './streams/replay-schedule.ts';
export { streamDispatch } from './streams/stream-dispatch.ts';
export { describeStreamProblem, type StreamProblem } from './streams/stream-problem.ts';
export { openToolbox, type Toolbox } from './toolbox.ts';
export { untilAborted } from './until-aborted.ts';
export { failedOutcome, useTool } from './use-tool.ts';
export { defaultMaxDepth, defaultMaxRunning, type WorkerOptions } from './worker-options.ts';
