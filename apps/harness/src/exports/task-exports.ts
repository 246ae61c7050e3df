import { gameStreamsExport } from './game-streams-export.ts';
import { otlpExport } from './otlp-export.ts';
import { sessionLogExports } from './session-log-export.ts';
import type { TaskExport } from './task-export.ts';
import { taskReportExports } from './task-report-exports.ts';
import { trainingExports } from './training-exports.ts';

/** Every format of `hansard export`, in the order of its help. */
export const taskExports: readonly TaskExport[] = [
  ...sessionLogExports,
  otlpExport,
  ...taskReportExports,
  gameStreamsExport,
  ...trainingExports,
];
