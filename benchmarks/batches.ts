/** Measures `appendEvents` per event, with growing ids and with random ids, as in imported logs. */
import { rmSync } from 'node:fs';
import type { CapturedEvent } from '@hansard/events';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { importedEvent, sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { openStore, storeNames } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 40;
const batch = 256;

const ids: Record<string, (position: number) => CapturedEvent> = {
  growing: sampleEvent,
  'random, as imported': importedEvent,
};

const folder = temporaryFolder('bench-batches');
for (const name of storeNames) {
  const store = await openStore(name, `${folder}/${name}`);
  const samples = new Map<string, number[]>();
  for (let done = 0; done < rounds; done += 1) {
    for (const [index, [kind, makeEvent]] of Object.entries(ids).entries()) {
      for (const mode of ['one by one', `${batch} at once`] as const) {
        const dispatchId = `${mode.replaceAll(' ', '-')}-${index}`;
        if (done === 0) await store.createDispatch(taskDir, sampleEnvelope(dispatchId));
        const events = Array.from({ length: batch }, (_, position) => makeEvent(done * batch + position));
        const start = process.hrtime.bigint();
        if (mode === 'one by one') {
          for (const event of events) await store.appendEvent(taskDir, dispatchId, event);
        } else await store.appendEvents(taskDir, dispatchId, events);
        const key = `${kind}|${mode}`;
        samples.set(key, [...(samples.get(key) ?? []), microsecondsSince(start) / batch]);
      }
    }
  }
  const reference = median(samples.get('growing|one by one') ?? []);
  for (const [key, values] of samples) {
    const [kind = '', mode = ''] = key.split('|');
    report({
      benchmark: 'batches',
      contender: name,
      events: rounds * batch,
      ids: kind,
      appended: mode,
      microsecondsPerEvent: rounded(median(values)),
      ofGrowingOneByOne: rounded(median(values) / reference),
    });
  }
  await store.close();
}
rmSync(folder, { recursive: true });
