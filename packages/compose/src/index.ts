export type { ChatOptions } from './chat.ts';
export {
  configJsonSchema,
  configSchema,
  type HarnessConfig,
  type LoadedConfig,
  loadConfig,
  type PlaceOptions,
} from './configuration.ts';
export type { HarnessContext } from './context.ts';
export { type ExportFormatId, exportFormats, type FormatOptions } from './exports/export-formats.ts';
export type { Exported, ExportOptions } from './exports/export-in-harness.ts';
export type { ExportReading, OpenedSource } from './exports/export-source.ts';
export type { CheckedPackets, ImportedVerdicts, PackedSession } from './exports/judging.ts';
export { Harness, importStore, loadConfigured, type OpenHarnessOptions, openHarness } from './harness.ts';
export { type HarnessError, harnessErrors, modelNotRecorded } from './harness-errors.ts';
export type { HarnessImportOptions, HarnessWatchOptions } from './import-logs.ts';
export type { Chat } from './open-parts.ts';
export { lookedIn, noteUncountedCost, reportPlugins, storePlace } from './open-parts.ts';
export { LeftRunning } from './run/left-running.ts';
export type { RunOptions } from './run/run-in-harness.ts';
export {
  activeAt,
  type ListedTask,
  listSessions,
  listTasks,
  type SessionOrder,
  type ShownStatus,
  sessionOrders,
  sessionTitle,
  shownStatus,
  shownStatuses,
  taskFigures,
  taskTitle,
} from './sessions/list-sessions.ts';
export {
  inTask,
  isLogFile,
  listAll,
  listingsOf,
  noSession,
  onlySession,
  openNamed,
  partOfStore,
  readableOf,
  resolveScope,
  resolveSession,
  resolveTask,
  type Scope,
} from './sessions/resolve-session.ts';
export type { SessionOfFile } from './sessions/session-of-file.ts';
export { toTaskDir, toTaskName } from './sessions/task-name.ts';
