/**
 * Measures the sums of `hansard usage` of 1,000 dispatches: by day as before, by the start of each dispatch, and from figures by
 * quarter of an hour; by day and model, task and model. Envelopes alone, each with a newly opened store.
 */
import { rmSync } from 'node:fs';
import { type DispatchStore, openDispatchStore, type UsageKey, usageOf } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { figuresOfDispatch, UsageSums } from '@hansard/facts';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const dispatches = 1_000;
/** An hour of work of two models. */
const quarters = 4;
const models = ['model-a', 'model-b'];

/** `withPeriods`: as they are written now; otherwise without figures by quarter. */
function writtenIn(folder: string, withPeriods: boolean): string {
  const writer = openJsonFileStore({ root: folder });
  for (let at = 0; at < dispatches; at += 1) {
    const dispatchId = `d${at}`;
    const taskDir = `benchmarks/tasks/usage-${at % 20}`;
    const start = Date.UTC(2026, 0, 1) + at * 3_600_000;
    const startedAt = new Date(start).toISOString();
    const all = { inputTokens: 72, outputTokens: 32, cacheReadTokens: 560, cacheWriteTokens: 40 };
    const rows = Array.from({ length: quarters * models.length }, (_, row) => row);
    const each = (value: number) => rows.map(() => value);
    const periods: DispatchEnvelope['periods'] = {
      start: rows.map((row) => new Date(start + Math.floor(row / models.length) * 900_000).toISOString()),
      model: rows.map((row) => models[row % models.length] ?? null),
      ...{ modelCalls: each(20), toolCalls: each(17), failedToolCalls: each(1) },
      ...{
        inputTokens: each(9),
        outputTokens: each(4),
        cacheReadTokens: each(70),
        cacheWriteTokens: each(5),
      },
      ...{ estimatedUsd: each(0.25), open: [] },
    };
    writer.createDispatch(taskDir, {
      ...sampleEnvelope(dispatchId),
      ...{ startedAt, cost: null, usage: all, prices: { name: 'a', version: '1', date: '2026-01-01' } },
      models: models.map((model) => ({
        ...{
          model,
          calls: 80,
          inputTokens: 36,
          outputTokens: 16,
          cacheReadTokens: 280,
          cacheWriteTokens: 20,
        },
        ...{ estimatedUsd: 1, pricedAs: model },
      })),
      periods: withPeriods ? periods : null,
    });
    writer.appendEvent(taskDir, dispatchId, sampleEvent(at));
    writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
    writer.releaseDispatch(taskDir, dispatchId);
  }
  writer.close();
  return folder;
}

/** Milliseconds of the processor from the opening of the store to the rows: other programs do not count. */
async function timeOf(root: string, sumUp: (store: DispatchStore) => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  await using store = openDispatchStore(openJsonFileStore({ root }));
  if ((await sumUp(store)) === 0) throw new Error('There are no sums.');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const by =
  (...keys: UsageKey[]) =>
  async (store: DispatchStore) =>
    (await usageOf(store, { by: keys })).rows.length;

async function byDayOfStart(store: DispatchStore): Promise<number> {
  const sums = new UsageSums();
  for await (const listed of store.dispatches())
    if (!('error' in listed))
      sums.add(listed.envelope.startedAt?.slice(0, 10) ?? '', figuresOfDispatch(listed.envelope));
  return sums.rows('most').length;
}

const root = temporaryFolder('bench-usage');
const without = writtenIn(`${root}/without`, false);
const within = writtenIn(`${root}/with`, true);
const contenders = {
  dayOfStart: () => timeOf(without, byDayOfStart),
  day: () => timeOf(within, by('day')),
  dayAndModel: () => timeOf(within, by('day', 'model')),
  task: () => timeOf(within, by('task')),
  model: () => timeOf(within, by('model')),
};
const names = Object.keys(contenders) as (keyof typeof contenders)[];
const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
  (typeof names)[number],
  number[]
>;
// The first round loads the code.
for (let round = -1; round < 15; round += 1)
  for (const name of names) {
    const time = await contenders[name]();
    if (round >= 0) times[name].push(time);
  }
rmSync(root, { recursive: true });
const medians = Object.fromEntries(names.map((name) => [name, rounded(median(times[name]))])) as Record<
  (typeof names)[number],
  number
>;
report(
  {
    benchmark: 'usage',
    dispatches,
    ...medians,
    dayToDayOfStart: rounded(median(times.day) / median(times.dayOfStart)),
  },
  [
    ...names.filter((name) => name !== 'dayOfStart').map((key) => ({ key, atMost: 300 })),
    { key: 'dayToDayOfStart', atMost: 1.5 },
  ],
);
