export { compareContexts } from './context/compare-contexts.ts';
export { contextErrors } from './context/context-errors.ts';
export {
  type ContextManifest,
  type ContextPart,
  contextRendererVersion,
} from './context/context-manifest.ts';
export {
  type ContextPolicy,
  checkContextPolicy,
  type FadedPolicy,
  type FullPolicy,
  type LastMessagesPolicy,
  parseContextPolicy,
} from './context/context-policy.ts';
export {
  type ContextOptions,
  type ContextRenderer,
  createBranchRenderer,
  createContextRenderer,
} from './context/context-renderer.ts';
export { redactionNote, unknownContext, verificationOf } from './context/context-verification.ts';
export { GivenOrder } from './context/given-order.ts';
export { givenThrough } from './context/given-through.ts';
export type { ContextMessage } from './context/history/context-message.ts';
export type { Detail } from './context/history/detail.ts';
export { interruption, takenBackText } from './context/history/interruption.ts';
export { outputText } from './context/history/output-text.ts';
export { bytesField } from './context/history/result-text.ts';
export { type CallRequest, LoggedRequests } from './context/logged-requests.ts';
export { readContextManifest } from './context/read-context-manifest.ts';
export {
  type Basis,
  type RenderCallsOptions,
  type RenderedCall,
  renderCalls,
} from './context/render-calls.ts';
export { renderContext } from './context/render-context.ts';
export type { RenderedContext } from './context/rendered-context.ts';
export { rootOf } from './context/root-of.ts';
export type { TokenCounter } from './context/token-counter.ts';
export { createTranscriptGatherer } from './transcript/gather-transcripts.ts';
export { givenEvent, putTogether, takeApart } from './transcript/put-together.ts';
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
