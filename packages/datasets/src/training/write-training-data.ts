import {
  type CapturedEvent,
  type DispatchEnvelope,
  encodeEvent,
  FormatError,
  type JsonObject,
  type JsonValue,
  type TaskSource,
} from '@hansard/events';
import { type GameMappingInput, parseGameMapping } from '@hansard/formats';
import type { TokenCounter } from '@hansard/views';
import { type CallRun, CallRuns, runOf } from './call-run.ts';
import { conversationOf } from './conversation.ts';
import { AgentFilter, DispatchCalls } from './dispatch-calls.ts';
import { InferenceRecords } from './inference-records.ts';
import type { ReasoningMode, RowOptions } from './row-options.ts';
import type { CallOrDropped, DropReason } from './training-call.ts';
import { type TrainingFormat, type TrainingFormatId, trainingFormats } from './training-formats.ts';
import { type TrainingManifest, TrainingTally } from './training-manifest.ts';

export interface TrainingOptions {
  readonly format: TrainingFormatId;
  /** The agents that are trained, by name or id. Absent: all. */
  readonly agents?: readonly string[];
  /** One of the format's `thoughts`. Absent: `drop`, except that `sft` always has the thoughts (G5). */
  readonly reasoning?: ReasoningMode;
  /** Definitions of the tools, copied into each row. They are not in the log. */
  readonly tools?: readonly JsonValue[];
  /** Names the turns and roles of a game. */
  readonly mapping?: GameMappingInput;
  /** Creates the token counter for an id in records of `faded` prompts; undefined if it is unknown. */
  readonly tokens?: (counterId: string) => Promise<TokenCounter | undefined>;
}

/**
 * Dispatches as training data: yields lines of JSON and returns their manifest. Each prompt is rendered by the record of
 * its call, or in full without a record. Text that an agent heard is never its own turn, and each answer is trained once.
 * @throws FORMAT_NOT_FULL if none of the dispatches holds input and output of tools; FORMAT_MAPPING_INVALID;
 * EVENT_INVALID for a part of a transcript that can't be read; TypeError for thoughts that the format can't have
 */
export async function* writeTrainingData(
  source: TaskSource,
  options: TrainingOptions,
): AsyncGenerator<string, TrainingManifest> {
  const format = trainingFormats[options.format];
  const row = rowOptions(format, options);
  const agents = options.agents === undefined ? undefined : new AgentFilter(options.agents);
  const mapping = options.mapping === undefined ? undefined : parseGameMapping(options.mapping);
  const tally = new TrainingTally();
  for (const envelope of fullOf(source.envelopes, tally)) {
    const events = () => source.readEvents(envelope.dispatchId);
    const records = await recordsOf(events());
    const counters = await countersFor(records, options);
    const calls = new DispatchCalls({ envelope, records, counters, mapping, agents });
    for await (const run of runsOf(events(), records.events, calls, format, row, tally))
      yield* linesOf(run, format, row, tally);
    tally.end(envelope);
  }
  const missingAgents = agents?.missing ?? [];
  return tally.manifest({ format: format.id, file: format.file, filter: filterOf(options), missingAgents });
}

function rowOptions({ id, thoughts }: TrainingFormat, { reasoning, tools }: TrainingOptions): RowOptions {
  if (reasoning !== undefined && !thoughts.includes(reasoning))
    throw new TypeError(
      thoughts.length === 0
        ? `The format ${id} always includes the thoughts, in its own form.`
        : `The format ${id} can't have thoughts as ${reasoning}; it can: ${thoughts.join(', ')}.`,
    );
  return { reasoning: reasoning ?? 'drop', tools };
}

function fullOf(envelopes: readonly DispatchEnvelope[], tally: TrainingTally): DispatchEnvelope[] {
  const full = envelopes.filter(({ fidelity }) => fidelity === 'full');
  for (const envelope of envelopes) if (envelope.fidelity !== 'full') tally.refuse(envelope);
  if (full.length > 0 || envelopes.length === 0) return full;
  const ids = envelopes.map(({ dispatchId }) => dispatchId);
  throw new FormatError(
    'FORMAT_NOT_FULL',
    `No training data can be written from ${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ' …' : ''}: ` +
      'input and output of tools were not recorded (fidelity narrative), so the prompts of the model are unknown.',
    { details: { dispatchIds: ids } },
  );
}

async function recordsOf(events: AsyncIterable<CapturedEvent>): Promise<InferenceRecords> {
  const records = new InferenceRecords();
  for await (const event of events) records.add(event);
  return records;
}

async function countersFor(
  { counters }: InferenceRecords,
  { tokens }: TrainingOptions,
): Promise<ReadonlyMap<string, TokenCounter>> {
  const found = new Map<string, TokenCounter>();
  for (const id of counters) {
    const counter = await tokens?.(id);
    if (counter !== undefined) found.set(id, counter);
  }
  return found;
}

/** Reads the first `count` events. Events that are recorded in the meantime are not in the records. */
async function* runsOf(
  events: AsyncIterable<CapturedEvent>,
  count: number,
  calls: DispatchCalls,
  format: TrainingFormat,
  { reasoning }: RowOptions,
  tally: TrainingTally,
): AsyncGenerator<CallRun> {
  const runs = new CallRuns({ showsThoughtsAsText: reasoning === 'think-tags' });
  const take = (found: readonly CallOrDropped[]): CallRun[] =>
    found.flatMap((entry) => {
      if (entry.kind === 'call') return format.rows === 'calls' ? [runOf(entry.call)] : runs.add(entry.call);
      tally.drop(entry.dropped);
      return [];
    });
  let read = 0;
  for await (const event of events) {
    if (read === count) break;
    read += 1;
    tally.addEvent(encodeEvent(event));
    yield* take(calls.add(event));
  }
  yield* take(calls.finish());
  yield* runs.finish();
}

/** At most one line, with as many of the calls as the format can hold. */
function* linesOf(
  run: CallRun,
  format: TrainingFormat,
  options: RowOptions,
  tally: TrainingTally,
): Generator<string> {
  const drop = (reason: DropReason, from: number) => {
    for (const { dispatchId, eventId } of run.calls.slice(from)) tally.drop({ dispatchId, eventId, reason });
  };
  if (!format.canMask && run.holdsOtherAnswers) {
    drop('trained_twice', 0);
    return;
  }
  const conversation = conversationOf(run);
  const beginning = format.beginning === undefined ? conversation : format.beginning(conversation);
  drop('no_turns', beginning?.calls.length ?? 0);
  if (beginning === null) return;
  const line = `${JSON.stringify(format.toRow(beginning, options))}\n`;
  tally.addRow(line, beginning.calls);
  yield line;
}

function filterOf({ format, agents, reasoning = 'drop', tools, mapping }: TrainingOptions): JsonObject {
  return {
    agents: agents === undefined ? 'all' : [...agents],
    ...(format === 'sft' ? {} : { reasoning }),
    tools: tools?.length ?? 0,
    mapping: mapping !== undefined,
  };
}
