export { agentLabel, speakerLabel } from './agent-label.ts';
export { AgentNames } from './agent-names.ts';
export { type AgentTreeNode, agentTree } from './agent-tree.ts';
export { type BotView, botView } from './bot-view.ts';
export { type CausalRow, causesOf, effectsOf } from './causality.ts';
export { columnsOf, fitColumns, padColumns } from './columns.ts';
export { compareContexts } from './context/compare-contexts.ts';
export {
  ContextError,
  type ContextErrorCode,
  contextErrorCodes,
  isContextError,
} from './context/context-error.ts';
export {
  type ContextManifest,
  type ContextPart,
  type ContextRendererVersion,
  contextRendererVersion,
} from './context/context-manifest.ts';
export type { ContextMessage } from './context/context-message.ts';
export {
  type ContextPolicy,
  checkContextPolicy,
  type EarlierOutput,
  type FadedPolicy,
  type FullPolicy,
  type LastMessagesPolicy,
  parseContextPolicy,
} from './context/context-policy.ts';
export {
  type ContextOptions,
  type ContextRenderer,
  createContextRenderer,
} from './context/context-renderer.ts';
export type { Detail } from './context/detail.ts';
export { givenThrough } from './context/given-through.ts';
export { interruption } from './context/interruption.ts';
export { readContextManifest } from './context/read-context-manifest.ts';
export { type RenderCallsOptions, type RenderedCall, renderCalls } from './context/render-calls.ts';
export { renderContext } from './context/render-context.ts';
export { renderContextText, renderManifest } from './context/render-context-text.ts';
export type { RenderedContext } from './context/rendered-context.ts';
export type { TokenCounter } from './context/token-counter.ts';
export type { EventDescription, Tone } from './describe-event.ts';
export { type DialogRow, dialogOf } from './dialog.ts';
export { type DispatchFigures, dispatchDuration } from './dispatch-figures.ts';
export { type DispatchTreeNode, dispatchTree } from './dispatch-tree.ts';
export { type EventLine, eventLine } from './event-line.ts';
export { findEvent } from './find-node.ts';
export { formatCost, formatDuration, formatTime, formatTokens, formatUsage } from './format.ts';
export { type HearingCell, type HearingMatrix, type HearingRow, hearingMatrix } from './hearing-matrix.ts';
export { type Intervention, interventionsOf } from './interventions.ts';
export { type KnowledgeStep, type KnownRow, knownBy, type NeverHeardRow, neverHeard } from './knowledge.ts';
export { agentNamed, agentsNamed, type LogAgent } from './log-agents.ts';
export { createLogIndex, type LogIndex } from './log-index.ts';
export { matchesEventType } from './matches-event-type.ts';
export { neutraliseControls, neutraliseControlsInLine } from './neutralise-controls.ts';
export { type Oddity, renderOddities } from './oddity.ts';
export { type PerspectiveRow, perspectiveOf } from './perspective.ts';
export { type PriorOutcomes, type PriorOutcomesOptions, priorOutcomes } from './prior-outcomes.ts';
export { putTogether } from './put-together.ts';
export { renderAgentTree } from './render-agent-tree.ts';
export { renderCauses } from './render-causes.ts';
export { renderDialog } from './render-dialog.ts';
export { renderDeliveryDiffs, renderDiff } from './render-diff.ts';
export { renderDispatchTree } from './render-dispatch-tree.ts';
export {
  type EventLineOptions,
  eventLineSegments,
  type LineSegment,
  renderEventLine,
} from './render-event-line.ts';
export { renderHearing, renderKnown, renderNeverHeard } from './render-hearing.ts';
export { renderInterventions } from './render-interventions.ts';
export { renderPerspective } from './render-perspective.ts';
export { renderSessionView } from './render-session-view.ts';
export { renderTimeline } from './render-timeline.ts';
export type { Hearing, HowHeard, Saying, Speaker } from './sayings.ts';
export type { SessionAgent } from './session-agents.ts';
export { type SessionRow, type SessionView, sessionView } from './session-view.ts';
export { SessionViewer } from './session-viewer.ts';
export { takeApart } from './take-apart.ts';
export { type DispatchLog, type TaskTimelineRow, taskTimeline } from './task-timeline.ts';
export { type TimelineRow, timelineOf } from './timeline.ts';
export type {
  MessageFields,
  TranscriptEntry,
  TranscriptMessage,
  TranscriptToolCall,
} from './transcript-message.ts';
export { type DeliveryDiff, type DiffPart, deliveryDiffs, wordDiff } from './word-diff.ts';
