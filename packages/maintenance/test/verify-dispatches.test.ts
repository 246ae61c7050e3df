import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { type VerifiedDispatch, verifyDispatches } from '@hansard/maintenance';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it, onTestFinished } from 'vitest';

const tasks = ['lab/tasks/one', 'lab/tasks/two'] as const;

/** Two tasks with two ended dispatches each, and the folder of their store. */
async function recorded() {
  const root = mkdtempSync(join(tmpdir(), 'hansard-verify-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const store = openDispatchStore(openJsonFileStore({ root }));
  onTestFinished(() => store.close());
  for (const taskDir of tasks) {
    for (const dispatchId of ['A', 'B']) {
      const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
      await dispatch.append(['one', 'two', 'three'].map((text) => newEvent('agent:text', { text })));
      await dispatch.end({ status: 'completed' });
    }
  }
  return {
    store,
    root,
    fileOf: (taskDir: string, id: string) => join(root, taskDir, 'dispatches', `${id}.json`),
  };
}

async function collect(results: AsyncIterable<VerifiedDispatch>): Promise<VerifiedDispatch[]> {
  const all: VerifiedDispatch[] = [];
  for await (const result of results) all.push(result);
  return all;
}

const nameOf = ({ taskDir, dispatchId }: VerifiedDispatch) => `${taskDir} ${dispatchId}`;

function isDamaged({ verification, error }: VerifiedDispatch): boolean {
  return error !== null || (verification?.damages.length ?? 0) > 0;
}

it('every dispatch of every task is verified, and a healthy store has no damage', async () => {
  const { store } = await recorded();
  const results = await collect(verifyDispatches(store));
  expect(results.map(nameOf)).toEqual(tasks.flatMap((task) => [`${task} A`, `${task} B`]));
  expect(results.filter(isDamaged)).toEqual([]);
  expect(results.map(({ verification }) => verification?.wholeEvents)).toEqual([3, 3, 3, 3]);
});

it.each([
  ['a line that is no longer an event', (text: string) => text.replace('"text":"two"', '"text:"two"')],
  ['a head that is no longer JSON', (text: string) => text.replace(/^\{/, '[')],
])('a dispatch with %s is a result, and the others are verified all the same', async (_, damage) => {
  const { store, fileOf } = await recorded();
  const file = fileOf(tasks[0], 'A');
  writeFileSync(file, damage(readFileSync(file, 'utf8')));
  const results = await collect(verifyDispatches(store));
  expect(results.filter(isDamaged).map(nameOf)).toEqual([`${tasks[0]} A`]);
  expect(results).toHaveLength(4);
});

it('the scope can be a task or a dispatch', async () => {
  const { store } = await recorded();
  const [taskDir] = tasks;
  const ofTask = await collect(verifyDispatches(store, { taskDir }));
  expect(ofTask.map(nameOf)).toEqual([`${taskDir} A`, `${taskDir} B`]);
  const ofOne = await collect(verifyDispatches(store, { taskDir, dispatchId: 'B' }));
  expect(ofOne.map(nameOf)).toEqual([`${taskDir} B`]);
  await expect(collect(verifyDispatches(store, { taskDir, dispatchId: 'C' }))).rejects.toMatchObject({
    code: 'STORE_DISPATCH_NOT_FOUND',
  });
});

it('a signal ends it before the next dispatch', async () => {
  const { store } = await recorded();
  const stop = new AbortController();
  const seen: string[] = [];
  const verify = async () => {
    for await (const result of verifyDispatches(store, { signal: stop.signal })) {
      seen.push(nameOf(result));
      stop.abort();
    }
  };
  await expect(verify()).rejects.toMatchObject({ name: 'AbortError' });
  expect(seen).toEqual([`${tasks[0]} A`]);
});

it('in a store without checksums, every event is read', async () => {
  const store = openDispatchStore(createMemoryStore());
  const dispatch = await store.beginDispatch(tasks[0], { role: 'worker' });
  const event = await dispatch.append(newEvent('agent:text', { text: 'é' }));
  expect(await collect(verifyDispatches(store))).toEqual([
    {
      taskDir: tasks[0],
      dispatchId: dispatch.dispatchId,
      letterTo: null,
      error: null,
      verification: {
        integrity: 'none',
        wholeEvents: 1,
        bytes: Buffer.byteLength(JSON.stringify(event)),
        damages: [],
      },
    },
  ]);
});

it('a task whose dispatches are a link out of the store is a result, and the others are verified all the same', async () => {
  const { store, root } = await recorded();
  mkdirSync(join(root, 'away'));
  symlinkSync(tmpdir(), join(root, 'away/dispatches'));
  const results = await collect(verifyDispatches(store));
  const damaged = results.filter(isDamaged);
  expect(damaged.map(nameOf)).toEqual(['away null']);
  expect(damaged.map(({ error }) => error?.code)).toEqual(['STORE_INVALID_PATH']);
  expect(results).toHaveLength(5);
});

it('letters are verified after the sessions: a damaged one and one to a deleted session have their reasons', async () => {
  const { store, root, fileOf } = await recorded();
  const to = { taskDir: tasks[0], dispatchId: 'C' };
  const other = { taskDir: tasks[1], dispatchId: 'D' };
  for (const { taskDir, dispatchId } of [to, other])
    await (await store.beginDispatch(taskDir, { role: 'worker', dispatchId })).release();
  const whole = await store.sendLetter(to, { text: 'Stop.' });
  const damaged = await store.sendLetter(to, { text: 'Stop at once.' });
  const left = await store.sendLetter(other, { text: 'Is there anybody?' });
  const inbox = '_hansard/inbox/C';
  const file = fileOf(inbox, damaged.from);
  writeFileSync(file, 'no letter');
  rmSync(fileOf(other.taskDir, other.dispatchId));
  const results = await collect(verifyDispatches(store));
  expect(results.filter(({ letterTo }) => letterTo === null)).toHaveLength(5);
  const letters = results.filter(({ letterTo }) => letterTo !== null);
  expect(letters.map(({ dispatchId, letterTo }) => [dispatchId, letterTo]).sort()).toEqual(
    [
      [whole.from, to],
      [damaged.from, { ...to, taskDir: null }],
      [left.from, other],
    ].sort(),
  );
  expect(letters.find(({ dispatchId }) => dispatchId === whole.from)).toMatchObject({ error: null });
  expect(
    letters
      .filter(isDamaged)
      .map(({ dispatchId }) => dispatchId)
      .sort(),
  ).toEqual([damaged.from, left.from].sort());
  expect(letters.find(({ dispatchId }) => dispatchId === left.from)?.error).toMatchObject({
    code: 'DISPATCH_LETTER_INVALID',
    message: expect.stringContaining('does not exist'),
  });
  const ofOne = await collect(verifyDispatches(store, to));
  expect(ofOne.map(nameOf).slice(0, 1)).toEqual([`${tasks[0]} C`]);
  expect(ofOne.slice(1).map(({ letterTo }) => letterTo?.dispatchId)).toEqual(['C', 'C']);
  rmSync(join(root, inbox, 'dispatches'), { recursive: true });
  symlinkSync(tmpdir(), join(root, inbox, 'dispatches'));
  expect((await collect(verifyDispatches(store, to)))[1]).toMatchObject({
    taskDir: inbox,
    dispatchId: null,
    letterTo: { dispatchId: 'C' },
    error: { family: 'store' },
  });
});
