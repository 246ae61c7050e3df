/**
 * Measures an append to a log that has stored requests or contents, whose ids are greater than those of events, beside one to a log without, in
 * microseconds of processor time of the main thread. Rounds of 4,000 appends take turns.
 */
import { rmSync } from 'node:fs';
import type { CapturedEvent } from '@hansard/events';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { openStore } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const round = 4_000;
const rounds = 60;
const warmUp = 8;

const stored: Readonly<Record<string, CapturedEvent | null>> = {
  none: null,
  'without, again': null,
  request: {
    id: `sha256:${'ab'.repeat(32)}`,
    type: 'request:stored',
    timestamp: null,
    data: { tools: [] },
  },
  content: {
    id: 'ab'.repeat(32),
    type: 'content:stored',
    timestamp: null,
    data: { sha256: 'ab'.repeat(32), size: 3, base64: 'AAAA' },
  },
};

const folder = temporaryFolder('bench-stored-requests');
const store = await openStore('store-jsonfile', folder);
for (const [name, event] of Object.entries(stored)) {
  store.createDispatch(taskDir, sampleEnvelope(name.replaceAll(/[^a-z]/g, '')));
  if (event !== null) store.appendEvent(taskDir, name.replaceAll(/[^a-z]/g, ''), event);
}
const samples = new Map<string, number[]>();
for (let at = 0; at < rounds; at += 1)
  for (const name of Object.keys(stored)) {
    const events = Array.from({ length: round }, (_, index) => sampleEvent(at * round + index));
    const dispatchId = name.replaceAll(/[^a-z]/g, '');
    const before = process.threadCpuUsage();
    for (const event of events) store.appendEvent(taskDir, dispatchId, event);
    const { user, system } = process.threadCpuUsage(before);
    if (at >= warmUp) samples.set(name, [...(samples.get(name) ?? []), (user + system) / round]);
  }
const without = median(samples.get('none') ?? []);
for (const [name, all] of samples)
  report(
    {
      ...{ benchmark: 'stored-requests', log: name, microseconds: rounded(median(all)) },
      ofWithout: rounded(median(all) / without),
    },
    name === 'none' ? [] : [{ key: 'ofWithout', atMost: 1.02 }],
  );
await store.close();
rmSync(folder, { recursive: true });
