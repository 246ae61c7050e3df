/**
 * Measures pages of 100 of 20,000 dispatches of a task. In `store-jsonfile` the first page of an opening reads each dispatch, and further ones
 * read only what has changed. In `store-sqlite` an index finds each page, so that pages of 2,000 dispatches cost the same; the last
 * page checks the complete list.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { DispatchPage, DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, sampleEvent, taskDir } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const dispatches = 20_000;
const limit = 100;

/** Milliseconds of processor time, so that other work on the machine counts as little as possible. */
function milliseconds(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

type Open = (folder: string) => DispatchStoreProvider;

/** The times of the first page of an opening, of further ones, and of the last one. */
async function pagesOf(open: Open, count: number) {
  const folder = temporaryFolder('bench-listings');
  const writer = open(folder);
  for (let at = 0; at < count; at += 1) {
    const dispatchId = `d${at}`;
    const startedAt = new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString();
    writer.createDispatch(taskDir, { ...sampleEnvelope(dispatchId), startedAt });
    writer.appendEvent(taskDir, dispatchId, sampleEvent(at));
    writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
    writer.releaseDispatch(taskDir, dispatchId);
  }
  writer.close();
  // What changed just before it was read is read again.
  await setTimeout(200);
  const store = open(folder);
  let next: string | null = null;
  const read = (size: number) => {
    const after = next === null ? {} : { after: next };
    const found = store.listDispatches({ taskDir, limit: size, order: 'newest', ...after }) as DispatchPage;
    next = found.next;
  };
  const first = milliseconds(() => read(limit));
  const further = median(Array.from({ length: 15 }, () => milliseconds(() => read(limit))));
  read(count - 16 * limit - 50);
  const last = milliseconds(() => read(limit));
  store.close();
  rmSync(folder, { recursive: true });
  return { first: rounded(first), further: rounded(further), last: rounded(last) };
}

const files = await pagesOf((root) => openJsonFileStore({ root }), dispatches);
const sqlite = (folder: string) => openSqliteStore({ path: join(folder, 'hansard.sqlite') });
const database = await pagesOf(sqlite, dispatches);
const small = await pagesOf(sqlite, dispatches / 10);
report(
  {
    benchmark: 'listings',
    dispatches,
    limit,
    ...files,
    sqliteFirst: database.first,
    sqliteFurther: database.further,
    sqliteLast: database.last,
    sqliteFurtherOfFew: small.further,
    sqliteGrowth: rounded(database.further / small.further),
  },
  [
    { key: 'first', atMost: 1_000 },
    { key: 'further', atMost: 100 },
    { key: 'sqliteFurther', atMost: 20 },
    { key: 'sqliteGrowth', atMost: 2 },
  ],
);
