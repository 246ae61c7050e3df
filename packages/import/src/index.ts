export { type FoundLogs, findLogs, type PathProblem } from './find/find-logs.ts';
export { assertRegularFile } from './find/read-source.ts';
export { ImportError, type ImportErrorCode, importErrors, isImportError } from './import-error.ts';
export { importLogs } from './import-logs.ts';
export type { ImportOptions, ImportProgress } from './import-options.ts';
export type { ImportFailure, ImportReport } from './import-report.ts';
export { logImporters } from './importers/log-importers.ts';
export { type RecordedLog, type RecordLogOptions, recordLog } from './record/record-log.ts';
