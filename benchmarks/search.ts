/**
 * Searches a store of files without an index: a rare word, a common one, a word with accents in a text that has accents. Beside them the
 * floor: reading the same bytes, and `grep`-like search of one word in them. One word is only in the newest dispatch.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEnvelope, taskDir, text } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder('bench-search');
const dispatches = 20;
const each = 25_000;

/** Half short utterances, half results of tools of 1.6 kB; some with accents, as in texts of people. */
function eventAt(dispatch: number, position: number): CapturedEvent {
  const id = `01JM${String(dispatch * each + position).padStart(22, '0')}`;
  const minute = String(Math.floor((position * 60) / each)).padStart(2, '0');
  const timestamp = `2026-03-${String(dispatch + 1).padStart(2, '0')}T09:${minute}:00.000Z`;
  const rare = position === 12_000 && dispatch === 3 ? ' A walrus.' : '';
  const newest = position === 20_000 && dispatch === dispatches - 1 ? ' A badger.' : '';
  const accents = position % 10 === 0 ? ' Zoë and Bjørn met at the café — again.' : '';
  const said = `${text}${rare}${newest}${accents}`;
  return position % 2 === 0
    ? { id, type: 'agent:text', timestamp, data: { text: said } }
    : { id, type: 'tool:result', timestamp, data: { output: `${said}\n`.repeat(7) } };
}

function bytesOf(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce(
    (sum, entry) =>
      sum + (entry.isDirectory() ? bytesOf(join(path, entry.name)) : statSync(join(path, entry.name)).size),
    0,
  );
}

function filesOf(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)],
  );
}

/** Reads every byte, and looks for the bytes of a word with `indexOf`. */
function readAll(word: string | null): void {
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  for (const file of filesOf(folder)) {
    const fd = openSync(file, 'r');
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      if (word !== null) for (let at = 0; at >= 0; ) at = buffer.indexOf(word, at + 1);
    closeSync(fd);
  }
}

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

try {
  const store = openJsonFileStore({ root: folder });
  for (let dispatch = 0; dispatch < dispatches; dispatch += 1) {
    const dispatchId = `dispatch-${String(dispatch).padStart(2, '0')}`;
    store.createDispatch(taskDir, {
      ...sampleEnvelope(dispatchId),
      startedAt: eventAt(dispatch, 0).timestamp,
    });
    for (let position = 0; position < each; position += 1_000)
      store.appendEvents(
        taskDir,
        dispatchId,
        Array.from({ length: 1_000 }, (_, at) => eventAt(dispatch, position + at)),
      );
    store.releaseDispatch(taskDir, dispatchId);
  }
  const megabytes = bytesOf(folder) / 1e6;
  const newest = `dispatch-${dispatches - 1}`;
  const works: Readonly<Record<string, () => unknown>> = {
    read: () => readAll(null),
    indexOf: () => readAll('walrus'),
    rare: () => store.searchEvents('walrus'),
    absent: () => store.searchEvents('unicorn'),
    common: () => store.searchEvents('candidates night'),
    accents: () => store.searchEvents('BJØRN'),
    newest: () => store.searchEvents('badger', { taskDir, dispatchId: newest }),
  };
  if (store.searchEvents('walrus').length !== 2 && store.searchEvents('walrus').length !== 1)
    throw new Error('The rare word was not found.');
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, [] as number[]]));
  for (let round = 0; round < 3; round += 1)
    for (const [name, work] of Object.entries(works)) times[name]?.push(timeOf(work));
  for (const [name, samples] of Object.entries(times)) {
    const ms = median(samples);
    const searched = name === 'newest' ? megabytes / dispatches : megabytes;
    const rate = (searched * 1_000) / ms;
    const result = {
      benchmark: 'search',
      of: name,
      megabytes: rounded(searched),
      ms: rounded(ms),
      rate: rounded(rate),
    };
    const nsPerByte = rounded((ms * 1e6) / (searched * 1e6));
    const isTarget = name === 'rare' || name === 'absent';
    // 200 MB in a second.
    report({ ...result, nsPerByte }, isTarget ? [{ key: 'nsPerByte', atMost: 5 }] : []);
  }
  store.close();
} finally {
  rmSync(folder, { recursive: true });
}
