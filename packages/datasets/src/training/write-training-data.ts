import { createHash, type Hash } from 'node:crypto';
import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  encodeEvent,
  formatErrors,
  type JsonObject,
  type TaskSource,
  type TextSink,
} from '@hansard/events';
import { contextRendererVersion, type TokenCounter } from '@hansard/prompt';
import { type Conversation, conversationOf, SeenRows } from './conversation.ts';
import type { RowOptions } from './rows.ts';
import type { CallFacts, DroppedCall, DropReason } from './training-call.ts';
import { estimateRows, type TrainingEstimate } from './training-estimate.ts';
import {
  llamaFactoryInfo,
  type TrainingFormat,
  type TrainingFormatId,
  trainingFormats,
} from './training-formats.ts';
import { type TrainingContent, TrainingSource } from './training-source.ts';

const shownDrops = 20;

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
  const seen = new SeenRows();
  for (const envelope of source.narrative) tally.refuse(envelope);
  for (const envelope of source.full) {
    for await (const run of source.runsOf(envelope, tally)) {
      if (!seen.isNew(run, drop)) continue;
      const conversation = conversationOf(run);
      const line = `${JSON.stringify(format.toRow(conversation, row))}\n`;
      tally.addRow(line, conversation.calls);
      tally.addFiles(conversation, format, row);
      tally.addFaults(conversation, row);
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
 * Dispatches as a file of training data, `manifest.json`, and for `trl-chat` the `dataset_info.json` of LLaMA-Factory. `open` creates a file; it is first called after the estimate, so that data
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
  if (options.format === 'trl-chat')
    await open('dataset_info.json').write(`${JSON.stringify(llamaFactoryInfo, null, 2)}\n`);
  await open('manifest.json').write(`${JSON.stringify(next.value, null, 2)}\n`);
  return next.value;
}

/** The contents and omissions of a file of training data. */
export interface TrainingManifest {
  readonly format: TrainingFormatId;
  readonly file: string;
  readonly rows: number;
  /** The size of the file. */
  readonly bytes: number;
  /** The SHA-256 of the file. */
  readonly sha256: string;
  /** The model calls that were found (`of`): those in rows and the dropped ones. Of those in rows, the number with recorded prompts and with prompts rendered without a record. */
  readonly calls: {
    readonly of: number;
    readonly inRows: number;
    readonly recorded: number;
    readonly rendered: number;
    readonly shortened: number;
  };
  /** The images of messages that rows show, each as often as a row has it. */
  readonly images: number;
  /** The files that rows only name, by media type, each as often as a row has it. */
  readonly named: Readonly<Record<string, number>>;
  /** What trained answers have that `parts` of the mapping does not name or that is not whole, such as `unnamed <plan>`; how often. It is a thought. */
  readonly faults: Readonly<Record<string, number>>;
  readonly filter: JsonObject;
  /** Requested agents that do not occur in any of the dispatches. */
  readonly missingAgents: readonly string[];
  readonly rendererVersion: number;
  /** The dispatches, each with the hash of its events. */
  readonly sources: readonly TrainedDispatch[];
  /** Dispatches that cannot be used, with the reason. */
  readonly refused: readonly { readonly dispatchId: string; readonly reason: 'narrative' }[];
  /** By reason: the number, and the first ones. */
  readonly dropped: Readonly<
    Partial<Record<DropReason, { readonly count: number; readonly first: readonly string[] }>>
  >;
}

interface TrainedDispatch {
  readonly dispatchId: string;
  readonly events: number;
  /** The SHA-256 of its events as lines of JSON. */
  readonly sha256: string;
  readonly rows: number;
}

/** Counts while rows are written. */
class TrainingTally {
  readonly #file: Hash = createHash('sha256');
  readonly #sources: TrainedDispatch[] = [];
  readonly #refused: { dispatchId: string; reason: 'narrative' }[] = [];
  readonly #dropped = new Map<DropReason, { count: number; first: string[] }>();
  readonly #calls = { inRows: 0, recorded: 0, rendered: 0, shortened: 0 };
  readonly #named: Record<string, number> = {};
  readonly #faults: Record<string, number> = {};
  #images = 0;
  #rows = 0;
  #bytes = 0;
  /** The dispatch that is being read. */
  #source = { events: 0, rows: 0, hash: createHash('sha256') };

  refuse({ dispatchId }: DispatchEnvelope): void {
    this.#refused.push({ dispatchId, reason: 'narrative' });
  }

  addEvent(event: CapturedEvent): void {
    this.#source.events += 1;
    this.#source.hash.update(`${encodeEvent(event)}\n`);
  }

  addRow(line: string, calls: readonly CallFacts[]): void {
    this.#rows += 1;
    this.#bytes += Buffer.byteLength(line);
    this.#source.rows += 1;
    this.#file.update(line);
    for (const { isRecorded, isShortened } of calls) {
      this.#calls.inRows += 1;
      this.#calls[isRecorded ? 'recorded' : 'rendered'] += 1;
      if (isShortened) this.#calls.shortened += 1;
    }
  }

  addFaults({ messages }: Conversation, { split }: RowOptions): void {
    for (const { message, isTrained } of split === null ? [] : messages)
      if (isTrained)
        for (const { kind, name } of split?.(message.text).faults ?? [])
          addRedactions(this.#faults, { [`${kind} ${name}`]: 1 });
  }

  addFiles({ messages }: Conversation, { hasImages }: TrainingFormat, { files: ofRow }: RowOptions): void {
    for (const { message } of messages) {
      const { files = [] } = message.role === 'user' || message.role === 'tool' ? message : {};
      const shown = hasImages ? ofRow.imagesIn(message) : [];
      this.#images += shown.length;
      for (const file of files)
        if (!shown.includes(file)) addRedactions(this.#named, { [file.mediaType ?? file.kind]: 1 });
    }
  }

  end({ dispatchId }: DispatchEnvelope): void {
    const { events, rows, hash } = this.#source;
    this.#sources.push({ dispatchId, events, sha256: hash.digest('hex'), rows });
    this.#source = { events: 0, rows: 0, hash: createHash('sha256') };
  }

  drop({ reason, eventId }: DroppedCall): void {
    const drops = this.#dropped.get(reason) ?? { count: 0, first: [] };
    drops.count += 1;
    if (drops.first.length < shownDrops) drops.first.push(eventId);
    this.#dropped.set(reason, drops);
  }

  manifest(about: Pick<TrainingManifest, 'format' | 'file' | 'filter' | 'missingAgents'>): TrainingManifest {
    const { format, file, filter, missingAgents } = about;
    return {
      format,
      file,
      rows: this.#rows,
      bytes: this.#bytes,
      sha256: this.#file.digest('hex'),
      calls: {
        of: [...this.#dropped.values()].reduce((sum, { count }) => sum + count, this.#calls.inRows),
        ...this.#calls,
      },
      images: this.#images,
      named: this.#named,
      faults: this.#faults,
      filter,
      missingAgents,
      rendererVersion: contextRendererVersion,
      sources: this.#sources,
      refused: this.#refused,
      dropped: Object.fromEntries(this.#dropped),
    };
  }
}
