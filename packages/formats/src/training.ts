export type { ReasoningMode } from './training/row-options.ts';
export { reasoningModes } from './training/row-options.ts';
export { type DropReason, dropReasons } from './training/training-call.ts';
export { type TrainingFormatId, trainingFormatIds, trainingFormats } from './training/training-formats.ts';
export type { TrainingManifest } from './training/training-manifest.ts';
export {
  type TrainingOptions,
  type TrainingSource,
  writeTrainingData,
} from './training/write-training-data.ts';
