import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SqliteStore } from '../../src/index.ts';
import { goldenDispatches, goldenTasks } from './golden-content.ts';

export function goldenBytes(format: 1 | 2): Buffer {
  return gunzipSync(readFileSync(join(import.meta.dirname, `format-${format}.sqlite.gz`)));
}

/** Puts a golden database at a path. */
export function putGolden(format: 1 | 2, path: string): void {
  writeFileSync(path, goldenBytes(format));
}

/** Everything that a reader sees of the golden database: the result of each read, by a name. */
export function readGolden(store: SqliteStore): ReadonlyMap<string, () => unknown> {
  const tasks = [...new Set(goldenDispatches.map(({ taskDir }) => taskDir))];
  return new Map<string, () => unknown>([
    ['tasks', () => store.listTasks()],
    ...tasks.flatMap((taskDir): [string, () => unknown][] => [
      [`task ${taskDir}`, () => store.getTask(taskDir)],
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
