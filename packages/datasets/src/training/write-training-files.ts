import type { TaskSource, TextSink } from '@hansard/events';
import { trainingFormats } from './training-formats.ts';
import type { TrainingManifest } from './training-manifest.ts';
import { type TrainingOptions, writeTrainingData } from './write-training-data.ts';

/**
 * Dispatches as a file of training data, and `manifest.json`. `open` creates a file; it is first called after the estimate, so that data
 * above the limit leaves none.
 * @throws as `writeTrainingData`
 */
export async function writeTrainingFiles(
  source: TaskSource,
  open: (name: string) => TextSink,
  options: TrainingOptions,
): Promise<TrainingManifest> {
  const rows = writeTrainingData(source, options);
  let next = await rows.next();
  const sink = open(trainingFormats[options.format].file);
  for (; next.done !== true; next = await rows.next()) await sink.write(next.value);
  await open('manifest.json').write(`${JSON.stringify(next.value, null, 2)}\n`);
  return next.value;
}
