export { columnsOf, fitColumns, padColumns } from './columns.ts';
export type { EventDescription, Tone } from './describe-event.ts';
export { type DispatchFigures, dispatchDuration } from './dispatch-figures.ts';
export { type DispatchTreeNode, dispatchTree } from './dispatch-tree.ts';
export { type EventLine, eventLine } from './event-line.ts';
export { formatCost, formatDuration, formatTime, formatTokens, formatUsage } from './format.ts';
export { matchesEventType } from './matches-event-type.ts';
export { neutraliseControls, neutraliseControlsInLine } from './neutralise-controls.ts';
export { renderDispatchTree } from './render-dispatch-tree.ts';
export {
  type EventLineOptions,
  eventLineSegments,
  type LineSegment,
  renderEventLine,
} from './render-event-line.ts';
export { renderSessionView } from './render-session-view.ts';
export type { SessionAgent } from './session-agents.ts';
export { type SessionRow, type SessionView, sessionView } from './session-view.ts';
