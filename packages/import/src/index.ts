export { type FoundLogs, findLogs } from './find/find-logs.ts';
export { type GitCheckpoints, writeCheckpoints } from './find/git-checkpoints.ts';
export { assertRegularFile } from './find/read-source.ts';
export { type ProductSurvey, surveyProducts } from './find/survey.ts';
export type { UnreadFiles } from './find/unread-files.ts';
export { importErrors } from './import-errors.ts';
export { type ImportItem, importLogs } from './import-logs.ts';
export { importSessions, type ReadableSessionKey, type ReadableSessionStore } from './import-sessions.ts';
export type {
  ImportOptions,
  ImportProgress,
  ImportReport,
  LeftOutLogs,
  LogFilter,
  UnchangedLog,
} from './import-source.ts';
export { logImporters } from './importers/log-importers.ts';
export { readPriceFile } from './prices/price-file.ts';
export { standardPrices } from './prices/standard-prices.ts';
export { type RecordedLog, recordLog, type UnchangedRecord } from './record/record-log.ts';
export { findImportRun, type ImportRunRecord, type UndoneSession, undoImport } from './undo.ts';
export { SourceWatcher, type WatchOptions } from './watch/source-watcher.ts';
export {
  excludeFromWatch,
  includeInWatch,
  type KnownWatcher,
  readWatchers,
  type WatchExclusion,
  type WatchState,
} from './watch/watch-records.ts';
