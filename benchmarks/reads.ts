/** Measures reads in a dispatch of 100,000 events, and a listing of 1,000 dispatches. */
import { rmSync } from 'node:fs';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { openStore, storeNames } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const events = 100_000;
const dispatches = 1_000;
const long = 'of-100000';

async function milliseconds(times: number, read: () => unknown): Promise<number> {
  const samples: number[] = [];
  for (let done = 0; done < times; done += 1) {
    const start = process.hrtime.bigint();
    await read();
    samples.push(microsecondsSince(start) / 1_000);
  }
  return median(samples);
}

const folder = temporaryFolder('bench-reads');
for (const name of storeNames) {
  const place = `${folder}/${name}`;
  const filling = await openStore(name, place);
  await filling.createDispatch(taskDir, sampleEnvelope(long));
  for (let first = 0; first < events; first += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, index) => sampleEvent(first + index));
    await filling.appendEvents(taskDir, long, batch);
  }
  const manyDir = 'benchmarks/tasks/many';
  for (let number = 0; number < dispatches; number += 1) {
    const dispatchId = `dispatch-${String(number).padStart(4, '0')}`;
    await filling.createDispatch(manyDir, sampleEnvelope(dispatchId));
    const batch = Array.from({ length: 20 }, (_, index) => sampleEvent(index));
    await filling.appendEvents(manyDir, dispatchId, batch);
    await filling.updateDispatch(manyDir, dispatchId, { status: 'completed' });
    await filling.releaseDispatch(manyDir, dispatchId);
  }
  await filling.close();

  // A store that was just opened knows nothing yet: what the first reader waits for.
  const store = await openStore(name, place);
  const print = async (read: string, times: number, work: () => unknown, atMost?: number): Promise<void> => {
    const targets: Target[] = atMost === undefined ? [] : [{ key: 'milliseconds', atMost }];
    const result = { benchmark: 'reads', contender: name, read, events };
    report({ ...result, milliseconds: rounded(await milliseconds(times, work)) }, targets);
  };
  await print('1,000 envelopes, first time', 1, () => store.getDispatchEnvelopes(manyDir), 50);
  await print('1,000 envelopes', 21, () => store.getDispatchEnvelopes(manyDir), 50);
  await print('last 50, first time', 1, () => store.getRecentEvents(taskDir, long, 50));
  await print('last 50', 201, () => store.getRecentEvents(taskDir, long, 50), 1);
  const half = { after: events / 2, limit: 100 };
  await print('page of 100 in the middle, first time', 1, () => store.readEvents(taskDir, long, half));
  await print('page of 100 in the middle', 201, () => store.readEvents(taskDir, long, half));
  await print('all', 5, () => store.getDispatchEvents(taskDir, long));
  await store.close();

  const another = await openStore(name, place);
  const tail = () => another.readEvents(taskDir, long, { last: 50 });
  await print('last 50 with positions, first time', 1, tail);
  await print('last 50 with positions', 201, tail, 1);
  await another.close();
}
rmSync(folder, { recursive: true });
