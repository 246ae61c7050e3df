import { gameStreamsExport } from './game-streams-export.ts';
import { otlpExport } from './otlp-export.ts';
import { sessionLogExports } from './session-log-export.ts';
import type { StoreExport, TaskExport } from './task-export.ts';
import { pagesExport, taskReportExports } from './task-report-exports.ts';
import { trainingExports } from './training-exports.ts';

/** Every format of `hansard export`, in the order of its help. */
export const taskExports: readonly (TaskExport | StoreExport)[] = [
  ...sessionLogExports,
  otlpExport,
  ...taskReportExports,
  pagesExport,
  gameStreamsExport,
  ...trainingExports,
];
