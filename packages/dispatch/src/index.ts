export { type Clock, systemClock } from './clock.ts';
export { closeAbandonedDispatches } from './close-abandoned-dispatches.ts';
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
export { defaultLoopLimits, type LoopLimits } from './loop-detector.ts';
export { type DispatchStoreOptions, openDispatchStore } from './open-dispatch-store.ts';
export { runDispatch, startDispatch } from './run-dispatch.ts';
export type { RunDispatchOptions, RunLimits } from './run-options.ts';
