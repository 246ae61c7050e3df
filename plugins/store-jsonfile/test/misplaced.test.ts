import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { runStoreConformance, type StoreUnderTest } from '@hansard/store-conformance';
import { importMutated } from '@hansard/testing/mutants';
import { expect, it } from 'vitest';
import type * as Store from '../src/index.ts';
import { type JsonFileDispatchStore, jsonFileStoreCapabilities } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { readByOracle } from './integrity/oracle.ts';
import { codeOf, dispatchFile, makeEvent, makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

const ended = { status: 'completed', completedAt: '2026-03-01T09:31:00.000Z' } as const;

/** A store with an ended dispatch of 3 events for each id. */
function storeWith(ids: readonly string[], task = taskDir) {
  const root = makeRoot();
  const store = openStore(root);
  for (const id of ids) {
    store.createDispatch(task, makeEnvelope(id, ended));
    store.claimDispatch(task, id);
    store.appendEvents(task, id, makeEvents(1, 3));
    store.releaseDispatch(task, id);
  }
  return { root, store };
}

/** Every call that reads or writes a dispatch, but its adoption. */
const calls: Readonly<Record<string, (store: JsonFileDispatchStore, task: string, id: string) => unknown>> = {
  getDispatchEnvelope: (store, task, id) => store.getDispatchEnvelope(task, id),
  getDispatchEnvelopes: (store, task) => store.getDispatchEnvelopes(task),
  getDispatchEvents: (store, task, id) => store.getDispatchEvents(task, id),
  getRecentEvents: (store, task, id) => store.getRecentEvents(task, id, 1),
  readEvents: (store, task, id) => store.readEvents(task, id),
  'readEvents of a damaged one': (store, task, id) => store.readEvents(task, id, { skipDamaged: true }),
  searchEvents: (store, taskDir, dispatchId) => store.searchEvents('event', { taskDir, dispatchId }),
  claimDispatch: (store, task, id) => store.claimDispatch(task, id),
  appendEvent: (store, task, id) => store.appendEvent(task, id, makeEvent(9)),
  updateDispatch: (store, task, id) => store.updateDispatch(task, id, { title: 'x' }),
  deleteDispatch: (store, task, id) => store.deleteDispatch(task, id),
  rewriteDispatch: (store, task, id) =>
    store.rewriteDispatch(task, id, { envelope: (envelope) => envelope, event: (event) => event }),
  verifyDispatch: (store, task, id) => store.verifyDispatch(task, id),
  acceptLoss: (store, task, id) => store.acceptLoss(task, id, makeEvent(99)),
};

it.each(Object.keys(calls))('%s of a log that was copied over another one is STORE_MISPLACED', (call) => {
  const { root, store } = storeWith(['d', 'e']);
  cpSync(dispatchFile(root, 'd'), dispatchFile(root, 'e'));
  const bytes = readFileSync(dispatchFile(root, 'e'));
  // As it was opened before, and by another opening.
  for (const each of [store, openStore(root)]) {
    const code = codeOf(() => calls[call]?.(each, taskDir, 'e'));
    // A log that this opening has read before, and never claimed.
    const isUnclaimed = each === store && (call === 'appendEvent' || call === 'updateDispatch');
    expect(code).toBe(isUnclaimed ? 'STORE_LOCKED' : 'STORE_MISPLACED');
    expect(each.findClaims(taskDir, ['e'])).toEqual([null]);
  }
  expect(readFileSync(dispatchFile(root, 'e')).equals(bytes)).toBe(true);
  expect(store.getDispatchEvents(taskDir, 'd')).toEqual(makeEvents(1, 3));
});

it('the refusal names both names, and the command that adopts the log', () => {
  const { root, store } = storeWith(['d', 'e']);
  cpSync(dispatchFile(root, 'd'), dispatchFile(root, 'e'));
  expect(() => store.getDispatchEvents(taskDir, 'e')).toThrow(
    `${dispatchFile(root, 'e')} was written as dispatch d of ${taskDir}. Rename it back, or keep it as dispatch e of ${taskDir} with \`hansard store adopt ${taskDir}/e\`.`,
  );
  const { dispatches } = store.listDispatches();
  expect(dispatches.map(({ dispatchId, error }) => [dispatchId, error?.code])).toEqual([
    ['d', undefined],
    ['e', 'STORE_MISPLACED'],
  ]);
});

it('a log that is adopted keeps its events under the new name, and can be written', () => {
  const { root, store } = storeWith(['d']);
  renameSync(dispatchFile(root, 'd'), dispatchFile(root, 'e'));
  expect(codeOf(() => store.getDispatchEvents(taskDir, 'e'))).toBe('STORE_MISPLACED');
  expect(store.adoptDispatches(taskDir, 'e')).toEqual(['e']);
  expect(store.adoptDispatches(taskDir, 'e')).toEqual([]);
  expect(store.getDispatchEnvelope(taskDir, 'e')).toEqual(makeEnvelope('e', ended));
  store.claimDispatch(taskDir, 'e');
  store.appendEvent(taskDir, 'e', makeEvent(4));
  store.close();
  expect(readByOracle(readFileSync(dispatchFile(root, 'e')))).toEqual({ events: makeEvents(1, 4) });
  expect(openStore(root).verifyDispatch(taskDir, 'e')).toMatchObject({ wholeEvents: 4, damages: [] });
});

it('a log is adopted by nobody while another opening has the claim of its place', () => {
  const { root, store } = storeWith(['d', 'e']);
  const owner = openStore(root);
  owner.claimDispatch(taskDir, 'e');
  cpSync(dispatchFile(root, 'd'), dispatchFile(root, 'e'));
  expect(codeOf(() => store.adoptDispatches(taskDir, 'e'))).toBe('STORE_LOCKED');
  expect(codeOf(() => owner.close())).toBe('STORE_CORRUPT');
});

it('a task folder with another name is one entry, and one call adopts each of its dispatches', () => {
  const ids = ['d1', 'd2', 'd3', 'd4'];
  const { root, store } = storeWith(ids);
  store.close();
  renameSync(join(root, taskDir), join(root, 'lab/tasks/charts'));
  const next = openStore(root);
  const listed = next.listDispatches().dispatches;
  expect(listed.map(({ dispatchId, error }) => [dispatchId, error?.code])).toEqual([
    [null, 'STORE_MISPLACED'],
  ]);
  expect(listed[0]?.error?.message).toContain(
    `The logs in ${join(root, 'lab/tasks/charts')} were written as task ${taskDir}. Rename the task back, or keep it as task lab/tasks/charts with \`hansard store adopt lab/tasks/charts\`.`,
  );
  expect(codeOf(() => next.getDispatchEnvelopes('lab/tasks/charts'))).toBe('STORE_MISPLACED');
  // A process that was killed after it had adopted one.
  expect(next.adoptDispatches('lab/tasks/charts', 'd2')).toEqual(['d2']);
  expect(next.listDispatches().dispatches.map(({ dispatchId }) => dispatchId)).toEqual(['d2', null]);
  expect(next.adoptDispatches('lab/tasks/charts').toSorted()).toEqual(['d1', 'd3', 'd4']);
  expect(next.listDispatches().dispatches.map(({ dispatchId }) => dispatchId)).toEqual(ids);
  expect(next.getDispatchEvents('lab/tasks/charts', 'd3')).toEqual(makeEvents(1, 3));
});

it('a listing that an earlier one kept does not list a renamed task', () => {
  const ids = Array.from({ length: 9 }, (_, at) => `d${at}`);
  const { root, store } = storeWith(ids);
  const old = Date.now() + 60_000;
  openStore(
    root,
    {},
    { clock: { now: () => old, monotonic: () => 0, after: () => () => {} } },
  ).listDispatches();
  expect(readdirSync(join(root, taskDir))).toContain('.listing');
  store.close();
  renameSync(join(root, taskDir), join(root, 'lab/tasks/charts'));
  const { dispatches } = openStore(root).listDispatches();
  expect(dispatches.map(({ dispatchId }) => dispatchId)).toEqual([null]);
});

it('events of another log after the head of this one are damage', () => {
  const { root, store } = storeWith(['d', 'e']);
  store.close();
  const [own, other] = ['d', 'e'].map((id) => readFileSync(dispatchFile(root, id)));
  const start = own?.indexOf('"events":[') ?? 0;
  expect(own?.length).toBe(other?.length);
  writeFileSync(
    dispatchFile(root, 'd'),
    Buffer.concat([own?.subarray(0, start) ?? Buffer.of(), other?.subarray(start) ?? Buffer.of()]),
  );
  expect(codeOf(() => openStore(root).getDispatchEvents(taskDir, 'd'))).toBe('STORE_CORRUPT');
});

it('a task that a link inside the store leads to has its own name', () => {
  const { root, store } = storeWith(['d']);
  mkdirSync(dirname(join(root, 'other/link')), { recursive: true });
  symlinkSync(join(root, taskDir), join(root, 'other/link'));
  expect(store.getDispatchEvents('other/link', 'd')).toEqual(makeEvents(1, 3));
});

it('a store that reads a log under another name fails the case that names its fault', async () => {
  const { openJsonFileStore: open } = (await importMutated(
    new URL('..', import.meta.url).pathname,
    [
      'dispatch/dispatch-file.ts',
      '  if (dispatchId === writtenDispatchId) {',
      '  if (dispatchId) return;\n  {',
    ],
    'index.ts',
  )) as typeof Store;
  const broken: StoreUnderTest = {
    capabilities: jsonFileStoreCapabilities,
    create: () => {
      const root = makeRoot();
      const fileOf = ({ taskDir: task, dispatchId }: { taskDir: string; dispatchId: string }) =>
        join(root, task, 'dispatches', `${dispatchId}.json`);
      return {
        store: open({ root }),
        reopen: () => open({ root }),
        misplace: (from, to) => cpSync(fileOf(from), fileOf(to)),
        dispose: () => {},
      };
    },
  };
  const results = await runStoreConformance(broken, ['misplaced/refused', 'misplaced/task']);
  expect(results.map(({ status }) => status)).toEqual(['failed', 'failed']);
});
