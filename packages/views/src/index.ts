export { type AddressedLog, addressedEvents } from './addresses/addressed-log.ts';
export { type EventAddress, parseAddress } from './addresses/event-address.ts';
export type { FoundEvent } from './addresses/found-event.ts';
export {
  type Instant,
  type LimitReading,
  parseInstant,
  parseTimeLimit,
  type TimeReading,
} from './addresses/instant.ts';
export { type EventLocation, locateEvent } from './addresses/locate-event.ts';
export { agentLabel, speakerLabel } from './agents/agent-label.ts';
export { AgentNames } from './agents/agent-names.ts';
export { type AgentTreeNode, agentTree, readAgentTree } from './agents/agent-tree.ts';
export { renderAgentTree } from './agents/render-agent-tree.ts';
export { type Audience, audienceOf } from './audience/audience-of.ts';
export { OpenAudience } from './audience/open-audience.ts';
export { PresentAgents } from './audience/present-agents.ts';
export { type CausalRow, causesOf, effectsOf } from './causes/causality.ts';
export {
  type HearingCell,
  type HearingMatrix,
  type HearingRow,
  hearingMatrix,
} from './causes/hearing-matrix.ts';
export { type Intervention, interventionsOf } from './causes/interventions.ts';
export { renderCauses, renderInterventions } from './causes/render-causes.ts';
export { renderHearing, renderKnown, renderNeverHeard } from './causes/render-hearing.ts';
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
  type LineOrigin,
  type ReplayedStep,
} from './files/file-blame.ts';
export { changedWithoutContents, type FileRecord, fileRecordsOf } from './files/file-records.ts';
export { type FileStep, stepOf } from './files/file-step.ts';
export { LineTable } from './files/line-table.ts';
export { type ReplayOrder, replayOrder, type SessionStep } from './files/replay-order.ts';
export { type EventCriteria, EventFilter } from './filters/event-filter.ts';
export { filterRows } from './filters/filter-rows.ts';
export { parseTextPattern, type TextPattern } from './filters/text-pattern.ts';
export type { AgentKnowledge } from './knowledge/agent-knowledge.ts';
export { basisNote } from './knowledge/basis-note.ts';
export type { GivenAnswer } from './knowledge/given-answer.ts';
export { type Knowledge, knowledgeOf } from './knowledge/knowledge-of.ts';
export { type KnowledgeStep, type KnownRow, knownBy } from './knowledge/known-by.ts';
export { type ItemState, type KnownItem, textOfItem } from './knowledge/known-item.ts';
export { type NeverHeardRow, neverHeard } from './knowledge/never-heard.ts';
export {
  contextMessageText,
  renderContextText,
  renderManifest,
  requestLines,
} from './knowledge/render-context-text.ts';
export { type LogDiagnostic, type LogDiagnosticCode, renderDiagnostics } from './log/diagnostic.ts';
export { agentNamed, agentsNamed, type LogAgent } from './log/log-agents.ts';
export { createLogIndex, findEvent, type LogIndex } from './log/log-index.ts';
export type { Hearing, HowHeard, Saying, Speaker } from './log/saying.ts';
export type { Ink } from './rows/ink.ts';
export { isNoise, isStoredRow } from './rows/noise.ts';
export type { RowReach } from './rows/open-groups.ts';
export { readRows, rowsOf } from './rows/read-rows.ts';
export { type LineSegment, lineSegments, type RenderLineOptions, renderLine } from './rows/render-line.ts';
export { type RenderRowOptions, renderRow } from './rows/render-row.ts';
export { renderTimeline } from './rows/render-timeline.ts';
export {
  type DiffLine,
  type Row,
  type RowAgent,
  type RowCall,
  type RowDecision,
  type RowFold,
  type RowHearing,
  type RowKind,
  type RowModel,
  type RowPart,
  type RowSpeaker,
  type RowText,
  rowKinds,
  type Tone,
} from './rows/row.ts';
export {
  eventsOfBranch,
  type FoldedRows,
  foldsOf,
  type RowFolds,
  readFolds,
} from './rows/row-folds.ts';
export { rowText, type WordsLine, wordsLine } from './rows/row-line.ts';
export { type RowConditions, RowQuery } from './rows/row-query.ts';
export { RowReader, type RowReaderOptions } from './rows/row-reader.ts';
export { type DialogRow, dialogOf } from './session/dialog.ts';
export { type AgentRef, type IndexedSession, JointLog, type JointRow } from './session/joint-log.ts';
export { type FlowStep, type MessageFlow, messageFlow } from './session/message-flow.ts';
export { type PerspectiveRow, perspectiveOf } from './session/perspective.ts';
export { renderDialog } from './session/render-dialog.ts';
export { flowMermaid, renderFlow } from './session/render-flow.ts';
export { renderPerspective } from './session/render-perspective.ts';
export { renderSessionView, type SessionSource } from './session/render-session-view.ts';
export { type SessionFacts, sessionFacts } from './session/session-facts.ts';
export { SessionViewer } from './session/session-viewer.ts';
export { type DeliveryDiff, type DiffPart, deliveryDiffs, wordDiff } from './session/word-diff.ts';
export { botView } from './task/bot-view.ts';
export { type DispatchEnding, dispatchEnding } from './task/dispatch-ending.ts';
export { type DispatchTreeNode, dispatchTree } from './task/dispatch-tree.ts';
export { inOrderOfTime, type TimedSource } from './task/in-order-of-time.ts';
export {
  type PriorDispatch,
  type PriorOutcomes,
  priorOutcomes,
} from './task/prior-outcomes.ts';
export { copiesInWords, forkInWords, forkNotes, renderDispatchTree } from './task/render-dispatch-tree.ts';
export { renderEnvelope } from './task/render-envelope.ts';
export { type TimelineRow, type TimelineSource, taskTimeline } from './task/task-timeline.ts';
export { columnsOf, fitColumns, padColumns } from './text/columns.ts';
export { type SnippetPart, snippetOf } from './text/snippet.ts';
export { wrapColumns } from './text/wrap-columns.ts';
export { dialogWords, perspectiveWords, type TalkWords } from './words/dialog-words.ts';
export { cellInWords, dispatchedAgent } from './words/hearing-words.ts';
export {
  eventWords,
  foldInWords,
  openRewindInWords,
  type RowWordsOptions,
  rowWords,
} from './words/row-words.ts';
export {
  type RowWords,
  type SpanLabel,
  spanText,
  type WordBlock,
  type WordSource,
  type WordSpan,
  type Words,
} from './words/words.ts';
