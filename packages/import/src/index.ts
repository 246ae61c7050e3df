export { type FoundLogs, findLogs, type PathProblem } from './find/find-logs.ts';
export { assertRegularFile } from './find/read-source.ts';
export { type ProductSurvey, type SurveyOptions, surveyProducts } from './find/survey.ts';
export type { UnreadFiles } from './find/unread-files.ts';
export { importErrors } from './import-errors.ts';
export { type ImportItem, importLogs } from './import-logs.ts';
export {
  type ImportSessionsOptions,
  importSessions,
  type ReadableSessionKey,
  type ReadableSessionStore,
} from './import-sessions.ts';
export type {
  ImportFailure,
  ImportOptions,
  ImportProgress,
  ImportReport,
  LeftOutLogs,
  LeftOutReason,
  LogFilter,
  UnchangedLog,
} from './import-source.ts';
export { logImporters } from './importers/log-importers.ts';
export { readPriceFile } from './prices/price-file.ts';
export { standardPrices } from './prices/standard-prices.ts';
export type { QuietEnd } from './record/end-of-log.ts';
export {
  type ExcludedRecord,
  type RecordedLog,
  type RecordLogOptions,
  recordLog,
  type UnchangedRecord,
} from './record/record-log.ts';
export {
  findImportRun,
  type ImportRunRecord,
  type UndoneSession,
  undoImport,
} from './undo.ts';
