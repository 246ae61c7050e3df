/**
 * Measures training data: 1,000 dispatches of 100 events in each format, beside reading and encoding them, and one dispatch of one
 * agent with 20,000 and 100,000 events as conversations, in processor time of the main thread. The heap is counted after a forced
 * collection, at the first tenth of the dispatches and at the last. Formats with a row for each call repeat the prompt in each row,
 * so their text grows with the square of a dispatch: they are not measured on a long one.
 */

import { type TrainingFormatId, trainingFormatIds, writeTrainingData } from '@hansard/datasets';
import { encodeEvent, type TaskSource } from '@hansard/events';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, taskDir } from './sample-events.ts';
import { sampleTurn } from './sample-turns.ts';

const rounds = 3;
const eventsOfATurn = 5;

const chosen = process.argv.slice(2);
const isChosen = (format: TrainingFormatId) => chosen.length === 0 || chosen.includes(format);
for (const format of trainingFormatIds.filter(isChosen)) await measureMany(format);
for (const format of (['trl-chat', 'openai'] as const).filter(isChosen)) await measureLong(format);

async function measureMany(format: TrainingFormatId): Promise<void> {
  const dispatches = 1_000;
  const events = 100;
  const reading: number[] = [];
  const writing: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    reading.push(await seconds(() => readAll(sourceOf(dispatches, events))));
    writing.push(
      await seconds(async () => {
        bytes = await writeAll(sourceOf(dispatches, events), format);
      }),
    );
  }
  const heaps: number[] = [];
  await writeAll(
    sourceOf(dispatches, events, (done) => {
      if (done % (dispatches / 10) === 0) heaps.push(collectedHeap());
    }),
    format,
  );
  const total = dispatches * events;
  report(
    {
      benchmark: 'training',
      format,
      dispatches,
      events: total,
      megabytes: rounded(bytes / 1e6),
      eventsPerSecond: Math.round(total / median(writing)),
      toReadingAlone: rounded(median(writing) / median(reading)),
      heapGrowthMegabytes: rounded(((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)) / 1e6),
    },
    [{ key: 'heapGrowthMegabytes', atMost: 5 }],
  );
}

async function measureLong(format: TrainingFormatId): Promise<void> {
  const took = (events: number) => processorSeconds(() => writeAll(sourceOf(1, events), format));
  const [shorts, longs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    shorts.push(await took(20_000));
    longs.push(await took(100_000));
  }
  report(
    {
      benchmark: 'training',
      format,
      dispatches: 1,
      events: 100_000,
      processorSeconds: rounded(median(longs)),
      ofFifth: rounded(median(longs) / median(shorts)),
    },
    [{ key: 'ofFifth', atMost: 6 }],
  );
}

/** Dispatches that are generated when they are read. Each is read four times; `heard` receives the number of finished ones. */
function sourceOf(dispatches: number, events: number, heard: (done: number) => void = () => {}): TaskSource {
  const reads = new Map<string, number>();
  let done = 0;
  return {
    taskDir,
    task: null,
    envelopes: Array.from({ length: dispatches }, (_, at) => ({
      ...sampleEnvelope(`01JM${String(at).padStart(22, '0')}`),
      fidelity: 'full' as const,
    })),
    async *readEvents(dispatchId) {
      for (let turn = 0; turn < events / eventsOfATurn; turn += 1) yield* sampleTurn(turn);
      const times = (reads.get(dispatchId) ?? 0) + 1;
      reads.set(dispatchId, times);
      if (times === 4) {
        done += 1;
        heard(done);
      }
    },
  };
}

async function readAll(source: TaskSource): Promise<void> {
  for (const { dispatchId } of source.envelopes)
    for (const _pass of ['records', 'rows'])
      for await (const event of source.readEvents(dispatchId)) encodeEvent(event);
}

async function writeAll(source: TaskSource, format: TrainingFormatId): Promise<number> {
  let bytes = 0;
  for await (const line of writeTrainingData(source, { format })) bytes += Buffer.byteLength(line);
  return bytes;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return microsecondsSince(start) / 1e6;
}

/** Of the main thread: other work on the machine does not count. */
async function processorSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}

function collectedHeap(): number {
  for (let times = 0; times < 3; times += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
