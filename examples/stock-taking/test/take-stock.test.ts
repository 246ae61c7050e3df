import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDispatchStore } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import { snapshotText } from '@hansard/events/plain';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-stock-taking-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('shows one object that changes, in the log and in a replay as it was at each look', async () => {
  const program = join(import.meta.dirname, '../src/take-stock.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@hansard/source', program, 'log'],
    { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } },
  );
  const lines = stdout.trimEnd().split('\n');
  const live = lines.flatMap((line) => /^live +(\S+)$/.exec(line)?.[1] ?? []);
  const replayed = lines.flatMap((line) => /^replay +(.*)$/.exec(line)?.[1] ?? []);
  const store = openDispatchStore(await openJsonFileStore({ root: join(folder, 'log') }));
  const [envelope] = await store.getDispatchEnvelopes('bakery/tasks/stock-taking');
  const events = await store.getDispatchEvents('bakery/tasks/stock-taking', envelope?.dispatchId ?? '');
  await store.close();
  expect(live).toEqual(events.map(({ type }) => type));
  const looks = events.flatMap((event) =>
    isEventOf(event, 'agent:output') ? [event.data.parts.map(snapshotText).join(' ')] : [],
  );
  expect(replayed).toEqual(looks);
  expect(looks.map((look) => /Shelf .*"rye" => (\d)/.exec(look)?.[1])).toEqual(['3', '2']);
  expect(looks[0]).toContain('[Function');
});
