export {
  type BlamedFile,
  blameFile,
  type EditContext,
  EditContexts,
  type FileEvent,
  type FileHistoryStep,
} from './reading/blame-file.ts';
export {
  type ComparedSession,
  compareBranches,
  compareSessions,
  type RequestDifference,
  type SessionComparison,
} from './reading/compare-sessions.ts';
export { EventRequest, type RequestedEvents } from './reading/event-request.ts';
export { renderModelCall } from './reading/model-call.ts';
export { eventNamed, type RequestedTimes, timeLimitsOf } from './reading/names.ts';
export {
  type CausesInSession,
  causesAcross,
  type OpenedSession,
  type OpenedSessions,
  readSession,
  readSessions,
  type SessionReading,
} from './reading/opened-session.ts';
export { type PagedLog, pagedLog } from './reading/paged-log.ts';
export { type SessionHits, SessionsFound } from './reading/search-sessions.ts';
