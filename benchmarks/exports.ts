/**
 * Measures the exporters beside reading alone, and their memory: one dispatch of 100,000 events from the JSON-file store,
 * each format in its own process. The heap is counted after a forced collection, at the first tenth of the events and at
 * the last.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createGameStreams, readCast } from '@hansard/datasets';
import { openDispatchStore, openTaskSource } from '@hansard/dispatch';
import type { TaskSource } from '@hansard/events';
import { writeTaskMarkdown, writeTaskPage } from '@hansard/pages';
import { otlpLines, traceDispatches } from '@hansard/traces';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { sampleEnvelope, taskDir } from './sample-events.ts';
import { sampleTurn } from './sample-turns.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Every utterance of the sample's agent counts as public speech. */
const mapping = {
  turn: { events: ['game:turn'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
};

/** The measured exporters. Formats that must keep a whole session in memory are not measured here. */
const exporters: Readonly<Record<string, (source: TaskSource) => AsyncIterable<string>>> = {
  otlp: (source) => traceLines(source, 'none'),
  'otlp --content spans': (source) => traceLines(source, 'spans'),
  markdown: writeTaskMarkdown,
  html: writeTaskPage,
  streams: gameLines,
};

async function* traceLines(source: TaskSource, content: 'none' | 'spans'): AsyncGenerator<string> {
  for await (const { text } of otlpLines(traceDispatches(source, { content }))) yield text;
}

async function* gameLines({ readEvents }: TaskSource): AsyncGenerator<string> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const streams = createGameStreams(mapping, { runId: dispatchId, cast });
  for await (const event of readEvents(dispatchId))
    for (const { line } of streams.add(event)) yield `${JSON.stringify(line)}\n`;
  for (const { line } of streams.finish()) yield `${JSON.stringify(line)}\n`;
}

const events = 100_000;
const rounds = 3;
const dispatchId = '01JM0000000000000000000D00';
const targets: Target[] = [{ key: 'heapGrowthMegabytes', atMost: 5 }];

const [format, folder] = process.argv.slice(2);
if (format !== undefined && folder !== undefined) await measure(format, folder);
else await measureAll();

async function measureAll(): Promise<void> {
  const place = temporaryFolder('bench-exports');
  const store = await openStore('store-jsonfile', place);
  await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
  for (let first = 0; first < events; first += 1_000)
    await store.appendEvents(
      taskDir,
      dispatchId,
      Array.from({ length: 200 }, (_, turn) => sampleTurn(first / 5 + turn)).flat(),
    );
  await store.close();
  for (const name of Object.keys(exporters)) {
    const args = [...process.execArgv, import.meta.filename, name, place];
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  }
  rmSync(place, { recursive: true });
}

async function measure(name: string, place: string): Promise<void> {
  const exporter = exporters[name];
  if (exporter === undefined)
    throw new Error(`Unknown exporter ${name}: ${Object.keys(exporters).join(', ')}.`);
  await using store = openDispatchStore(await openStore('store-jsonfile', place));
  const sourceOf = (onPage: (events: number) => void) => openTaskSource(store, taskDir, { onPage });
  let bytes = 0;
  const write = async (onPage: (events: number) => void) => {
    bytes = 0;
    for await (const text of exporter(await sourceOf(onPage))) bytes += Buffer.byteLength(text);
  };

  const seconds = async (work: () => Promise<unknown>) => {
    const start = process.hrtime.bigint();
    await work();
    return microsecondsSince(start) / 1e6;
  };
  const readAll = async () => {
    for await (const _event of (await sourceOf(() => {})).readEvents(dispatchId));
  };
  const reading: number[] = [];
  const writing: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    reading.push(await seconds(readAll));
    writing.push(await seconds(() => write(() => {})));
  }
  const heaps: number[] = [];
  await write((count) => {
    if (count % (events / 10) === 0) heaps.push(collectedHeap());
  });
  report(
    {
      benchmark: 'exports',
      format: name,
      events,
      megabytes: rounded(bytes / 1e6),
      eventsPerSecond: Math.round(events / median(writing)),
      toReadingAlone: rounded(median(writing) / median(reading)),
      heapGrowthMegabytes: rounded(((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)) / 1e6),
    },
    targets,
  );
}

function collectedHeap(): number {
  for (let times = 0; times < 3; times += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
