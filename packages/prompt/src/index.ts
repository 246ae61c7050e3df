export {
  type ContextManifest,
  contextErrors,
  contextRendererVersion,
  readContextManifest,
} from './context/context-manifest.ts';
export {
  type ContextPolicy,
  checkContextPolicy,
  parseContextPolicy,
  type TokenCounter,
} from './context/context-policy.ts';
export {
  type ContextOptions,
  type ContextRenderer,
  createBranchRenderer,
  createContextRenderer,
  renderContext,
} from './context/context-renderer.ts';
export { GivenOrder, givenThrough } from './context/given-order.ts';
export { bytesField, outputText } from './context/history/context-history.ts';
export { interruption, takenBackText } from './context/history/context-item.ts';
export type { ContextMessage } from './context/history/context-message.ts';
export { type CallRequest, LoggedRequests, rootOf } from './context/logged-requests.ts';
export {
  type Basis,
  compareContexts,
  type RenderedCall,
  redactionNote,
  renderCalls,
  unknownContext,
  verificationOf,
} from './context/render-calls.ts';
export type { RenderedContext } from './context/shared-messages.ts';
export {
  createTranscriptGatherer,
  givenEvent,
  putTogether,
  takeApart,
} from './transcript/gather-transcripts.ts';
export type {
  MessageFields,
  TranscriptEntry,
  TranscriptMessage,
  TranscriptToolCall,
} from './transcript/transcript-message.ts';
export { isEntryEvent, isPrompt } from './tree/places.ts';
export {
  isStraightEvent,
  type LeftBranch,
  type Placement,
  type TranscriptBranch,
  type TranscriptPath,
  type TranscriptStep,
  TranscriptTree,
} from './tree/transcript-tree.ts';
export type { TreeProblem, TreeProblemCode } from './tree/tree-problems.ts';
