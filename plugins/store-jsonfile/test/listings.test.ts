import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@hansard/provider';
import { expect, it } from 'vitest';
import { openJsonFileStore } from '../src/json-file-store.ts';
import { thisSystem } from '../src/store-system.ts';
import { Listings } from '../src/task/listings.ts';
import { makeEnvelope } from './envelope.ts';
import { failingFiles } from './failing-files.ts';
import { dispatchFile, makeRoot, openStore, taskDir } from './sample.ts';

const titles = (store: ReturnType<typeof openStore>) =>
  store.listDispatches({ taskDir }).dispatches.map(({ envelope }) => envelope?.title);

it('a listing has each change of another opening at once, although the size of the file stays', () => {
  const root = makeRoot();
  const writer = openStore(root);
  const reader = openStore(root);
  writer.createDispatch(taskDir, makeEnvelope('d1'));
  for (let at = 100; at < 200; at += 1) {
    writer.updateDispatch(taskDir, 'd1', { title: `title ${at}` });
    expect(titles(reader)).toEqual([`title ${at}`]);
  }
});

it('a listing opens no dispatch again that has not changed, and each that has', () => {
  const root = makeRoot();
  const writer = openStore(root);
  for (const id of ['d1', 'd2', 'd3']) writer.createDispatch(taskDir, makeEnvelope(id));
  const opened: string[] = [];
  const files = {
    ...thisSystem.files,
    open(path: string, flags: number) {
      if (!path.endsWith('.listing.tmp')) opened.push(path.slice(path.lastIndexOf('/') + 1));
      return thisSystem.files.open(path, flags);
    },
  };
  // What has just changed is not kept. By this clock it is older.
  const clock = { ...systemClock, now: () => systemClock.now() + 1_000 };
  const reader = openJsonFileStore({ root }, { ...thisSystem, files, clock });
  reader.listDispatches({ taskDir });
  expect(new Set(opened)).toEqual(new Set(['.listing', 'd1.json', 'd2.json', 'd3.json']));
  opened.length = 0;
  const before = reader.listDispatches({ taskDir }).dispatches;
  expect(opened).toEqual([]);
  writer.updateDispatch(taskDir, 'd2', { title: 'changed' });
  expect(titles(reader)).toEqual(
    [undefined, 'changed', undefined].map((title) => title ?? before[0]?.envelope?.title),
  );
  expect(new Set(opened)).toEqual(new Set(['d2.json']));
  reader.close();
});

it('a caller that changes an envelope of a listing changes no other listing', () => {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  const [listed] = store.listDispatches({ taskDir }).dispatches;
  Object.assign(listed?.envelope ?? {}, { title: 'not stored' });
  expect(titles(store)).not.toContain('not stored');
});

it('a listing without a free descriptor ends with a transient error, and shows no dispatch as unreadable', () => {
  const root = makeRoot();
  const writer = openStore(root);
  const ids = ['d1', 'd2', 'd3'];
  for (const id of ids) writer.createDispatch(taskDir, makeEnvelope(id));
  const { files, faults } = failingFiles(thisSystem.files);
  for (const scope of [{ taskDir }, {}]) {
    let failures = 0;
    for (let after = 0, failed = 1; failed > 0; after += 1) {
      // What was just written is not remembered, so each listing reads every dispatch.
      const reader = openStore(root, {}, { files });
      const list = () => reader.listDispatches(scope).dispatches;
      faults.begin({ kind: 'EMFILE', isLasting: false, after });
      try {
        expect(list().map(({ dispatchId }) => dispatchId)).toEqual(ids);
      } catch (error) {
        failures += 1;
        expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', isTransient: true });
      } finally {
        failed = faults.end();
      }
      expect(list().map(({ envelope }) => envelope?.dispatchId)).toEqual(ids);
    }
    expect(failures).toBeGreaterThan(2 * ids.length);
  }
});

it('listings remember envelopes up to a limit, forget deleted dispatches, and are the same with any limit', () => {
  const root = makeRoot();
  const writer = openStore(root);
  const ids = Array.from({ length: 20 }, (_, at) => `d${String(at).padStart(2, '0')}`);
  for (const id of ids) writer.createDispatch(taskDir, makeEnvelope(id));
  const length = JSON.stringify(writer.getDispatchEnvelope(taskDir, 'd00')).length;
  let reads = 0;
  const files = {
    ...thisSystem.files,
    open(path: string, flags: number) {
      if (path.endsWith('.json')) reads += 1;
      return thisSystem.files.open(path, flags);
    },
  };
  const clock = { ...systemClock, now: () => systemClock.now() + 1_000 };
  const readsOfPages = (limits: readonly number[]) =>
    limits.map((mostKept) => {
      const listings = new Listings({ files, clock }, root, mostKept);
      const listed = () => listings.envelopes(taskDir).map(({ dispatchId }) => dispatchId);
      const pages = [0, 1].map(() => {
        reads = 0;
        expect(listed()).toEqual(ids);
        return reads;
      });
      // Those of deleted dispatches make room.
      for (const id of ids.slice(0, 5)) renameSync(dispatchFile(root, id), join(root, `${id}.away`));
      expect(listed()).toHaveLength(ids.length - 5);
      for (const id of ids.slice(0, 5)) renameSync(join(root, `${id}.away`), dispatchFile(root, id));
      listed();
      reads = 0;
      expect(listed()).toEqual(ids);
      return [...pages, reads];
    });
  expect(readsOfPages([0, 5 * length, 20 * length])).toEqual([
    [20, 20, 20],
    [20, 15, 15],
    [20, 0, 0],
  ]);
});
