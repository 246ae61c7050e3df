import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { dispatchChecksum } from '../../src/database/decode.ts';
import type { DispatchRow } from '../../src/database/statements.ts';
import type { SqliteStore } from '../../src/index.ts';
import { goldenDispatches, goldenTasks } from './golden-content.ts';

/** The bytes of a golden database, as `putGolden` puts it. */
export function goldenBytes(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-golden-'));
  const path = join(folder, 'hansard.sqlite');
  putGolden(path);
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** Puts a golden database at a path. Its envelopes are written again, because they have every field of this version. */
export function putGolden(path: string): void {
  writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, 'format-1.sqlite.gz'))));
  const database = new DatabaseSync(path);
  for (const { taskDir, envelope } of goldenDispatches) {
    const text = JSON.stringify(envelope);
    const place = [taskDir, envelope.dispatchId];
    const where = 'WHERE task_dir = ? AND dispatch_id = ?';
    database.prepare(`UPDATE dispatches SET envelope = ? ${where}`).run(text, ...place);
    const row = database
      .prepare(`SELECT number, epoch, has_event_ids AS hasEventIds FROM dispatches ${where}`)
      .get(...place) as unknown as Pick<DispatchRow, 'number' | 'epoch' | 'hasEventIds'>;
    const writtenAs = place.join('/');
    const crc = dispatchChecksum({ ...row, writtenAs, envelope: text });
    database.prepare(`UPDATE dispatches SET crc = ? ${where}`).run(crc, ...place);
  }
  database.close();
}

/** Everything that a reader sees of the golden database: the result of each read, by a name. */
export function readGolden(store: SqliteStore): ReadonlyMap<string, () => unknown> {
  const tasks = [...new Set(goldenDispatches.map(({ taskDir }) => taskDir))];
  return new Map<string, () => unknown>([
    ['tasks', () => store.listTasks()],
    ...tasks.flatMap((taskDir): [string, () => unknown][] => [
      [`task ${taskDir}`, () => store.findTask(taskDir)],
      [`dispatches of ${taskDir}`, () => store.getDispatchEnvelopes(taskDir)],
    ]),
    ...goldenDispatches.flatMap(({ taskDir, envelope: { dispatchId } }): [string, () => unknown][] => [
      [`envelope ${dispatchId}`, () => store.getDispatchEnvelope(taskDir, dispatchId)],
      [`events ${dispatchId}`, () => store.getDispatchEvents(taskDir, dispatchId)],
      [`length ${dispatchId}`, () => store.readEvents(taskDir, dispatchId, { last: 0 })],
      [`page ${dispatchId}`, () => store.readEvents(taskDir, dispatchId, { after: -1, limit: 3 })],
      [`last ${dispatchId}`, () => store.getRecentEvents(taskDir, dispatchId, 2)],
    ]),
  ]);
}

/** The same results, computed from what was written. */
export function expectedReads(): ReadonlyMap<string, unknown> {
  const records = new Map(goldenTasks);
  const tasks = [...new Set(goldenDispatches.map(({ taskDir }) => taskDir))].sort();
  return new Map<string, unknown>([
    ['tasks', tasks.map((taskDir) => ({ taskDir, task: records.get(taskDir) ?? null }))],
    ...tasks.flatMap((taskDir): [string, unknown][] => [
      [`task ${taskDir}`, records.get(taskDir) ?? null],
      [
        `dispatches of ${taskDir}`,
        goldenDispatches.filter((dispatch) => dispatch.taskDir === taskDir).map(({ envelope }) => envelope),
      ],
    ]),
    ...goldenDispatches.flatMap(({ envelope, batches }): [string, unknown][] => {
      const { dispatchId } = envelope;
      const events = batches.flat();
      const count = events.length;
      return [
        [`envelope ${dispatchId}`, envelope],
        [`events ${dispatchId}`, events],
        [`length ${dispatchId}`, { events: [], first: count, next: count - 1 }],
        [`page ${dispatchId}`, { events: events.slice(0, 3), first: 0, next: Math.min(count, 3) - 1 }],
        [`last ${dispatchId}`, events.slice(-2)],
      ];
    }),
  ]);
}
