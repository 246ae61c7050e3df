/**
 * Measures pages of 20,000 dispatches of a task in `store-jsonfile`: the first one of an opening, which reads each dispatch, and
 * further ones, which read only what has changed.
 */
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const dispatches = 20_000;
const limit = 100;
const folder = temporaryFolder('bench-listings');

/** Milliseconds of processor time, so that other work on the machine counts as little as possible. */
function milliseconds(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

const writer = openJsonFileStore({ root: folder });
for (let at = 0; at < dispatches; at += 1) {
  const dispatchId = `d${at}`;
  writer.createDispatch(taskDir, sampleEnvelope(dispatchId));
  writer.appendEvent(taskDir, dispatchId, sampleEvent(at));
  writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  writer.releaseDispatch(taskDir, dispatchId);
}
writer.close();
// What changed just before it was read is read again.
await setTimeout(200);
const store = openJsonFileStore({ root: folder });
let next: string | null = null;
const page = () => {
  const found = store.listDispatches({
    taskDir,
    limit,
    order: 'newest',
    ...(next === null ? {} : { after: next }),
  });
  next = found.next;
};
const first = milliseconds(page);
const further = median(Array.from({ length: 20 }, () => milliseconds(page)));
store.close();
rmSync(folder, { recursive: true });
report({ benchmark: 'listings', dispatches, limit, first: rounded(first), further: rounded(further) }, [
  { key: 'first', atMost: 1_000 },
  { key: 'further', atMost: 100 },
]);
