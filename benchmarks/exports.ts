/**
 * What `hansard export` costs beside reading alone, and what it holds: a dispatch of 100,000 events, from the JSON-file store,
 * each format in a process of its own. Heap is counted after a forced collection, at the first tenth of the events and at the last.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExportSource, TextSink } from '../apps/harness/src/exports/task-export.ts';
import { taskExports } from '../apps/harness/src/exports/task-exports.ts';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { sampleEnvelope, taskDir } from './sample-events.ts';
import { sampleTurn } from './sample-turns.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The formats that are measured, and their options. Those that must hold a whole session don't belong here. */
const measured: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  otlp: [{ content: 'none' }, { content: 'spans' }],
  markdown: [{}],
  html: [{}],
  streams: [{ mapping: 'game.json' }],
};

/** What the sample's agent says counts as speech to all. */
const mapping = {
  turn: { events: ['game:turn'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
};

const events = 100_000;
const pageSize = 500;
const rounds = 3;
const dispatchId = '01JM0000000000000000000D00';
const targets: Target[] = [{ key: 'heapGrowthMegabytes', atMost: 5 }];

const [format, optionsText, folder] = process.argv.slice(2);
if (format !== undefined && optionsText !== undefined && folder !== undefined)
  await measure(format, JSON.parse(optionsText), folder);
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
  writeFileSync(join(place, 'game.json'), JSON.stringify(mapping));
  for (const [id, variants] of Object.entries(measured))
    for (const options of variants) {
      const args = [...process.execArgv, import.meta.filename, id, JSON.stringify(options), place];
      execFileSync(process.execPath, args, { stdio: 'inherit' });
    }
  rmSync(place, { recursive: true });
}

async function measure(id: string, options: Record<string, unknown>, place: string): Promise<void> {
  const found = taskExports.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`There is no export ${id}.`);
  const store = await openStore('store-jsonfile', place);
  let bytes = 0;
  const sink: TextSink = {
    async write(text) {
      bytes += Buffer.byteLength(text);
    },
  };
  const write = (heard: (count: number) => void) => {
    bytes = 0;
    return found.write(sourceOf(heard), { text: sink, file: () => sink }, options);
  };
  const sourceOf = (heard: (count: number) => void) =>
    ({
      context: { cwd: place },
      taskDir,
      task: null,
      envelopes: [sampleEnvelope(dispatchId)],
      async *readEvents() {
        let count = 0;
        for (let after: number | undefined; count < events; ) {
          const page = await store.readEvents(taskDir, dispatchId, {
            limit: pageSize,
            ...(after === undefined ? {} : { after }),
          });
          yield* page.events;
          count += page.events.length;
          after = page.next;
          heard(count);
        }
      },
    }) as unknown as ExportSource;

  const seconds = async (work: () => Promise<unknown>) => {
    const start = process.hrtime.bigint();
    await work();
    return microsecondsSince(start) / 1e6;
  };
  const readAll = async () => {
    for await (const _event of sourceOf(() => {}).readEvents(dispatchId));
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
      format: id,
      options: JSON.stringify(options),
      events,
      megabytes: rounded(bytes / 1e6),
      eventsPerSecond: Math.round(events / median(writing)),
      toReadingAlone: rounded(median(writing) / median(reading)),
      heapGrowthMegabytes: rounded(((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)) / 1e6),
    },
    targets,
  );
  await store.close();
}

function collectedHeap(): number {
  for (let times = 0; times < 3; times += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
