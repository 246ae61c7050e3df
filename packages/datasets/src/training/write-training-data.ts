import { formatErrors, type JsonObject, type TaskSource, type TextSink } from '@hansard/events';
import type { TokenCounter } from '@hansard/prompt';
import { canHold, fittedConversation } from './conversation.ts';
import { estimateRows, type TrainingEstimate } from './training-estimate.ts';
import { trainingFormats } from './training-formats.ts';
import { type TrainingManifest, TrainingTally } from './training-manifest.ts';
import { type TrainingContent, TrainingSource } from './training-source.ts';

/** The most bytes that are written unless the caller allows more: 1 GB. */
export const defaultMaxBytes = 1_000_000_000;

export interface TrainingOptions extends TrainingContent {
  /** The largest estimate that is written, in bytes; `Infinity` allows any. Absent: `defaultMaxBytes`. */
  readonly maxBytes?: number;
  /** Counts the tokens of the estimate. Absent: they are not estimated. */
  readonly counter?: TokenCounter;
  /** Called once with the estimate, before the first line and also before `FORMAT_TOO_LARGE`. */
  readonly onEstimate?: (estimate: TrainingEstimate) => void;
}

/**
 * Dispatches as training data: yields lines of JSON and returns their manifest. Each prompt is rendered by the record of
 * its call, or in full without a record. Text that an agent heard is never its own turn, and each answer is trained once.
 * The size is estimated first, so each dispatch is read four times.
 * @throws FORMAT_NOT_FULL if none of the dispatches holds input and output of tools; FORMAT_MAPPING_INVALID;
 * FORMAT_TOO_LARGE before the first line, if the estimate is above `maxBytes`;
 * EVENT_INVALID for a part of a transcript that can't be read; TypeError for thoughts that the format can't have
 */
export async function* writeTrainingData(
  from: TaskSource,
  options: TrainingOptions,
): AsyncGenerator<string, TrainingManifest> {
  const source = new TrainingSource(from, options);
  const { format, row } = source;
  const estimate = await estimateRows(source, options.counter);
  options.onEstimate?.(estimate);
  assertSize(estimate, options);
  const tally = new TrainingTally();
  const drop = tally.drop.bind(tally);
  for (const envelope of source.narrative) tally.refuse(envelope);
  for (const envelope of source.full) {
    for await (const run of source.runsOf(envelope, tally)) {
      const conversation = canHold(run, format, drop) ? fittedConversation(run, format, drop) : null;
      if (conversation === null) continue;
      const line = `${JSON.stringify(format.toRow(conversation, row))}\n`;
      tally.addRow(line, conversation.calls);
      tally.addFiles(conversation, format, row);
      yield line;
    }
    tally.end(envelope);
  }
  const { missingAgents } = source;
  return tally.manifest({ format: format.id, file: format.file, filter: filterOf(options), missingAgents });
}

function assertSize(
  estimate: TrainingEstimate,
  { format, maxBytes = defaultMaxBytes }: TrainingOptions,
): void {
  const { rows, bytes, tokens, calls } = estimate;
  if (bytes <= maxBytes) return;
  const known = tokens === null ? '' : ` and ${tokens} tokens`;
  throw formatErrors.error(
    'FORMAT_TOO_LARGE',
    `The ${format} data would have about ${bytes} bytes in ${rows} rows${known}, ` +
      `from ${calls.inRows} of ${calls.of} model calls; the limit is ${maxBytes} bytes.`,
    { details: { bytes, rows, tokens, calls: { ...calls }, maxBytes } },
  );
}

function filterOf({ format, agents, reasoning = 'drop', tools, mapping }: TrainingOptions): JsonObject {
  return {
    agents: agents === undefined ? 'all' : [...agents],
    ...(format === 'sft' ? {} : { reasoning }),
    tools: tools?.length ?? 0,
    mapping: mapping !== undefined,
  };
}

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
