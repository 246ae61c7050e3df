export { type Instant, parseTimeLimit } from './addresses/instant.ts';
export {
  type AddressedLog,
  addressedEvents,
  type EventAddress,
  type EventLocation,
  type FoundEvent,
  locateEvent,
  parseAddress,
} from './addresses/locate-event.ts';
export { agentLabel, speakerLabel } from './agents/agent-label.ts';
export { AgentNames } from './agents/agent-names.ts';
export { type AgentTreeNode, agentTree, readAgentTree, renderAgentTree } from './agents/agent-tree.ts';
export { type Audience, audienceOf, OpenAudience } from './audience/audience-of.ts';
export { PresentAgents } from './audience/present-agents.ts';
export { type CausalRow, causesOf, effectsOf } from './causes/causality.ts';
export { type HearingMatrix, type HearingRow, hearingMatrix } from './causes/hearing-matrix.ts';
export { type Intervention, interventionsOf } from './causes/interventions.ts';
export {
  renderCauses,
  renderHearing,
  renderInterventions,
  renderKnown,
  renderNeverHeard,
} from './causes/render-causes.ts';
export {
  type FirstDifference,
  firstDifference,
  type PartingEvent,
  renderDeliveryDiffs,
  renderDiff,
} from './compare/first-difference.ts';
export {
  type BlamedLine,
  FileBlame,
  type ReplayedStep,
  type ReplayOrder,
  replayOrder,
} from './files/file-blame.ts';
export { changedWithoutContents, type FileRecord, fileRecordsOf } from './files/file-records.ts';
export { type FileStep, stepOf } from './files/file-step.ts';
export { LineTable } from './files/line-table.ts';
export { EventFilter, filterRows } from './filters/event-filter.ts';
export { parseTextPattern, type TextPattern } from './filters/text-pattern.ts';
export { basisNote } from './knowledge/agent-knowledge.ts';
export type { GivenAnswer } from './knowledge/given-answer.ts';
export { type Knowledge, knowledgeOf } from './knowledge/knowledge-of.ts';
export { type KnownRow, knownBy, type NeverHeardRow, neverHeard } from './knowledge/known-by.ts';
export { type ItemState, type KnownItem, textOfItem } from './knowledge/known-item.ts';
export {
  contextMessageText,
  renderContextText,
  renderManifest,
  requestLines,
} from './knowledge/render-context-text.ts';
export { agentNamed, agentsNamed, type LogAgent } from './log/log-agents.ts';
export { createLogIndex, findEvent, type LogIndex } from './log/log-index.ts';
export type { Hearing, Saying, Speaker } from './log/saying.ts';
export { splitMessages } from './parts/split-messages.ts';
export {
  createTextSplitter,
  type PartRules,
  type SplitText,
  type TextPart,
} from './parts/text-parts.ts';
export { isNoise, isStoredRow } from './rows/noise.ts';
export { readRows, rowsOf } from './rows/read-rows.ts';
export {
  type Ink,
  type LineSegment,
  lineSegments,
  type RenderLineOptions,
  renderLine,
} from './rows/render-line.ts';
export { renderRow } from './rows/render-row.ts';
export { type Row, type RowFold, type RowKind, type RowPart, rowKinds, type Tone } from './rows/row.ts';
export {
  eventsOfBranch,
  type FoldedRows,
  foldsOf,
  type RowFolds,
  readFolds,
} from './rows/row-folds.ts';
export { type WordsLine, wordsLine } from './rows/row-line.ts';
export { type RowConditions, RowQuery } from './rows/row-query.ts';
export { RowReader } from './rows/row-reader.ts';
export { shownRows } from './rows/shown-rows.ts';
export { type DialogRow, dialogOf } from './session/dialog.ts';
export { type AgentRef, JointLog, type JointRow } from './session/joint-log.ts';
export { flowMermaid, type MessageFlow, messageFlow, renderFlow } from './session/message-flow.ts';
export { type PerspectiveRow, perspectiveOf } from './session/perspective.ts';
export { renderSessionView, type SessionFacts, sessionFacts } from './session/render-session-view.ts';
export { SessionViewer } from './session/session-viewer.ts';
export { type DeliveryDiff, type DiffPart, deliveryDiffs, wordDiff } from './session/word-diff.ts';
export {
  botView,
  copiesInWords,
  type DispatchTreeNode,
  dispatchTree,
  forkInWords,
  forkNotes,
  renderDispatchTree,
} from './task/dispatch-tree.ts';
export { inOrderOfTime } from './task/in-order-of-time.ts';
export {
  type DispatchEnding,
  dispatchEnding,
  type PriorOutcomes,
  priorOutcomes,
} from './task/prior-outcomes.ts';
export { renderEnvelope } from './task/render-envelope.ts';
export { renderTimeline, type TimelineRow, type TimelineSource, taskTimeline } from './task/task-timeline.ts';
export { columnsOf, fitColumns, padColumns, wrapColumns } from './text/columns.ts';
export { type SnippetPart, snippetOf } from './text/snippet.ts';
export {
  dialogWords,
  perspectiveWords,
  renderDialog,
  renderPerspective,
  type TalkWords,
} from './words/dialog-words.ts';
export { cellInWords, dispatchedAgent } from './words/hearing-words.ts';
export {
  callsInWords,
  eventWords,
  type FoldedCall,
  foldInWords,
  openRewindInWords,
  rowWords,
} from './words/row-words.ts';
export {
  type RowWords,
  spanText,
  type WordBlock,
  type WordSource,
  type WordSpan,
  type Words,
} from './words/words.ts';
