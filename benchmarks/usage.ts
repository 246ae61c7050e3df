/** Measures the sums of `hansard usage` of 1,000 dispatches by day, task and model: envelopes alone, each with a newly opened store. */
import { rmSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { addModels, figuresOfDispatch, UsageSums } from '@hansard/views';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const dispatches = 1_000;
const folder = temporaryFolder('bench-usage');
const writer = openJsonFileStore({ root: folder });
for (let at = 0; at < dispatches; at += 1) {
  const dispatchId = `d${at}`;
  const taskDir = `benchmarks/tasks/usage-${at % 20}`;
  const startedAt = new Date(Date.UTC(2026, 0, 1) + at * 3_600_000).toISOString();
  const models = ['model-a', 'model-b'].map((model) => ({
    model,
    calls: 2,
    inputTokens: 9,
    outputTokens: 4,
  }));
  writer.createDispatch(taskDir, { ...sampleEnvelope(dispatchId), startedAt, models });
  writer.appendEvent(taskDir, dispatchId, sampleEvent(at));
  writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  writer.releaseDispatch(taskDir, dispatchId);
}
writer.close();

/** Milliseconds from the opening of the store to the rows. */
async function timeOf(by: 'day' | 'task' | 'model'): Promise<number> {
  const start = performance.now();
  await using store = openDispatchStore(openJsonFileStore({ root: folder }));
  const sums = new UsageSums();
  for await (const { taskDir, envelope } of store.dispatches({})) {
    if (envelope === null) continue;
    if (by === 'model') addModels(sums, envelope);
    else sums.add(by === 'day' ? envelope.startedAt.slice(0, 10) : taskDir, figuresOfDispatch(envelope));
  }
  if (sums.rows('most').length === 0) throw new Error('There are no sums.');
  return performance.now() - start;
}

const times = { day: [] as number[], task: [] as number[], model: [] as number[] };
// The first round loads the code.
for (let round = -1; round < 7; round += 1)
  for (const by of ['day', 'task', 'model'] as const) {
    const time = await timeOf(by);
    if (round >= 0) times[by].push(time);
  }
rmSync(folder, { recursive: true });
const [day, task, model] = [times.day, times.task, times.model].map((all) => rounded(median(all)));
report(
  { benchmark: 'usage', dispatches, day: day ?? 0, task: task ?? 0, model: model ?? 0 },
  ['day', 'task', 'model'].map((key) => ({ key, atMost: 300 })),
);
