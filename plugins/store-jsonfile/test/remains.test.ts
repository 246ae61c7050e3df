import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { currentProcess } from '@hansard/store-kit';
import { expect, it } from 'vitest';
import { thisSystem } from '../src/store-system.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

/** A store with the ended dispatch d1, and copies of it with two other numbers. */
function storeWithCopies() {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
  const folder = dirname(dispatchFile(root, 'd1'));
  for (const number of [1, 7]) writeFileSync(join(folder, `.d1.${number}.tmp`), 'a secret');
  return { root, store, folder };
}

it.each(['claimDispatch', 'deleteDispatch', 'removeRemains'] as const)(
  '%s removes the copies that have another number, and those of no other dispatch',
  (method) => {
    const { store, folder } = storeWithCopies();
    writeFileSync(join(folder, '.d1.x.1.tmp'), 'of another dispatch');
    if (method === 'removeRemains') expect(store.removeRemains()).toEqual([]);
    else store[method](taskDir, 'd1');
    const left = readdirSync(folder).filter((name) => name.endsWith('.tmp'));
    expect(left).toEqual(method === 'removeRemains' ? [] : ['.d1.x.1.tmp']);
  },
);

it('findRemains names a copy, changes nothing, and looks only at the dispatch that it is asked for', () => {
  const { store, folder } = storeWithCopies();
  const named = [1, 7].map(
    (number) =>
      `${join(folder, `.d1.${number}.tmp`)}, a copy that a process did not finish: \`hansard secrets redact\` removes it.`,
  );
  for (const scope of [{}, { taskDir }, { taskDir, dispatchId: 'd1' }])
    expect(store.findRemains(scope)).toEqual(named);
  for (const scope of [{ taskDir: 'other' }, { taskDir, dispatchId: 'd2' }])
    expect(store.findRemains(scope)).toEqual([]);
  expect(readdirSync(folder)).toHaveLength(3);
});

it.each(['claimDispatch', 'deleteDispatch', 'removeRemains'] as const)(
  'the folder of a deletion that a killed process did not finish is named, and %s removes it',
  (method) => {
    const { store, folder } = storeWithCopies();
    store.removeRemains();
    const gone = join(folder, '.d1.1.a-token.gone');
    mkdirSync(gone);
    writeFileSync(join(gone, 'd1.json'), 'a secret');
    expect(store.findRemains({ taskDir, dispatchId: 'd1' })).toEqual([
      `${gone}, a deletion that a process did not finish: \`hansard secrets redact\` removes it.`,
    ]);
    if (method === 'removeRemains') expect(store.removeRemains()).toEqual([]);
    else store[method](taskDir, 'd1');
    expect(existsSync(gone)).toBe(false);
  },
);

it('a copy of a dispatch that a running process writes is neither named nor removed', () => {
  const { root, store, folder } = storeWithCopies();
  const owner = openStore(root);
  owner.claimDispatch(taskDir, 'd1');
  writeFileSync(join(folder, '.d1.2.tmp'), 'in progress');
  expect(store.findRemains()).toEqual([]);
  expect(store.removeRemains()).toEqual([]);
  expect(existsSync(join(folder, '.d1.2.tmp'))).toBe(true);
});

it('the files of a creation that a killed process did not finish are named, and removed', () => {
  const { store, folder } = storeWithCopies();
  store.removeRemains();
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = { ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' };
  writeFileSync(join(folder, 'd2.lock.1'), JSON.stringify(gone));
  writeFileSync(join(folder, '.d2.1.tmp'), 'a secret');
  const named = store.findRemains().map((place) => place.split(', ')[0]);
  expect(named).toEqual([join(folder, '.d2.1.tmp'), join(folder, 'd2.lock.1')]);
  expect(store.removeRemains()).toEqual([]);
  expect(readdirSync(folder)).toEqual(['d1.json']);
});

it('a deletion removes what was kept of a damaged dispatch', () => {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvents(taskDir, 'd1', [makeEvent(1), makeEvent(2, 'of two'), makeEvent(3)]);
  store.releaseDispatch(taskDir, 'd1');
  const file = dispatchFile(root, 'd1');
  writeFileSync(file, readFileSync(file, 'utf8').replace('of two', 'of 222'));
  store.acceptLoss(taskDir, 'd1', { ...makeEvent(9), id: '~notice' });
  expect(store.findRemains()).toEqual([`${file}.damaged-1, kept when a loss was accepted: delete the file.`]);
  store.deleteDispatch(taskDir, 'd1');
  expect(store.findRemains()).toEqual([]);
  expect(readdirSync(dirname(file))).toEqual([]);
  expect(codeOf(() => store.deleteDispatch(taskDir, 'd1'))).toBe('STORE_DISPATCH_NOT_FOUND');
});

it('a rewrite whose index cannot be written is done, and names the file with the old content', () => {
  const root = makeRoot();
  const { files } = thisSystem;
  let isFull = false;
  const rename: typeof files.rename = (from, to) => {
    if (isFull && to.endsWith('task.json'))
      throw Object.assign(new Error('ENOSPC: no space left on device, rename'), {
        code: 'ENOSPC',
        syscall: 'rename',
      });
    files.rename(from, to);
  };
  const store = openStore(root, {}, { files: { ...files, rename } });
  store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
  isFull = true;
  const rewrite = {
    envelope: (old: DispatchEnvelope) => ({ ...old, title: 'new' }),
    event: (event: CapturedEvent) => event,
  };
  expect(store.rewriteDispatch(taskDir, 'd1', rewrite).remains).toEqual([
    `${join(root, taskDir, 'task.json')}, which could not be written (ENOSPC: no space left on device, rename): the next change of a dispatch replaces it.`,
  ]);
  expect(store.getDispatchEnvelope(taskDir, 'd1')?.title).toBe('new');
  isFull = false;
});

it('what killed processes left beside the dispatches is named, and removed', () => {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.putTask(taskDir, { title: 'Maps' } as never);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = JSON.stringify({ ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' });
  const [folder, writers] = [join(root, taskDir), join(root, '.writers')];
  writeFileSync(join(writers, 'gone.json'), gone);
  writeFileSync(join(writers, 'gone.json.tmp'), gone.slice(0, 20));
  writeFileSync(join(writers, 'notes.txt'), 'mine');
  for (const name of ['.task.lock.1', '.task.tmp', '.listing.tmp'])
    writeFileSync(join(folder, name), name.includes('lock') ? gone : 'a secret');
  const own = readdirSync(writers).filter((name) => !/gone|notes/.test(name));
  expect(store.findRemains().map((place) => place.replace(`${root}/`, ''))).toEqual([
    `${taskDir}/.listing.tmp, a list that a process did not finish: \`hansard secrets redact\` removes it.`,
    `${taskDir}/.task.lock.1, the lock of the record of the task, of a process that has exited: \`hansard secrets redact\` removes it.`,
    `${taskDir}/.task.tmp, a record of the task that a process did not finish: \`hansard secrets redact\` removes it.`,
    '.writers/gone.json, the heartbeat of a process that has exited: `hansard secrets redact` removes it.',
    '.writers/gone.json.tmp, the heartbeat of a process that has exited: `hansard secrets redact` removes it.',
    '.writers/notes.txt, which belongs to no process: delete the file.',
  ]);
  expect(store.findRemains({ taskDir })).toHaveLength(3);
  expect(store.removeRemains()).toEqual([
    `${join(writers, 'notes.txt')}, which belongs to no process: delete the file.`,
  ]);
  expect(readdirSync(writers).toSorted()).toEqual([...own, 'notes.txt'].toSorted());
  store.appendEvent(taskDir, 'd1', makeEvent(1));
});
