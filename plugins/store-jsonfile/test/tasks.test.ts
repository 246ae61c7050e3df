import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orMissing } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { WriterLocks } from '../src/locks/writer-locks.ts';
import { thisSystem } from '../src/store-system.ts';
import { taskLock } from '../src/task/task-file.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openClaimed, openStore, taskDir } from './sample.ts';

const task = {
  slug: 'maps',
  name: 'Draw maps',
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:30:00.000Z',
};

describe('task.json', () => {
  it('contains the record of the task and an entry for each dispatch (D10)', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.putTask(taskDir, task);
    store.createDispatch(taskDir, makeEnvelope('d2', { startedAt: '2026-03-01T10:00:00.000Z' }));
    store.createDispatch(taskDir, makeEnvelope('d1', { parentDispatchId: 'd2', role: 'analyst' }));
    store.updateDispatch(taskDir, 'd2', { status: 'completed', cost: 0.5 });
    store.close();
    expect(JSON.parse(readFileSync(join(root, taskDir, 'task.json'), 'utf8'))).toEqual({
      ...task,
      dispatches: [
        {
          dispatchId: 'd1',
          role: 'analyst',
          status: 'running',
          cost: null,
          startedAt: '2026-03-01T09:30:00.000Z',
          parentDispatchId: 'd2',
        },
        {
          dispatchId: 'd2',
          role: 'worker',
          status: 'completed',
          cost: 0.5,
          startedAt: '2026-03-01T10:00:00.000Z',
          parentDispatchId: null,
        },
      ],
    });
    expect(openStore(root).findTask(taskDir)).toEqual(task);
  });

  it('is written at most once a second, and when the store closes', () => {
    const root = makeRoot();
    const timers: (() => void)[] = [];
    const after = (ms: number, action: () => void) => {
      // The others renew leases.
      if (ms !== 1_000) return () => {};
      timers.push(action);
      return () => timers.splice(timers.indexOf(action), 1);
    };
    const store = openStore(root, {}, { clock: { ...thisSystem.clock, after } });
    const indexed = () => {
      const text = orMissing(() => readFileSync(join(root, taskDir, 'task.json'), 'utf8'));
      return text === null ? 'no file' : JSON.parse(text).dispatches.length;
    };
    for (const id of ['d1', 'd2']) store.createDispatch(taskDir, makeEnvelope(id));
    expect([indexed(), timers.length]).toEqual(['no file', 1]);
    timers.pop()?.();
    expect(indexed()).toBe(2);
    store.createDispatch(taskDir, makeEnvelope('d3'));
    expect([indexed(), timers.length]).toEqual([2, 1]);
    store.close();
    expect([indexed(), timers.length]).toEqual([3, 0]);
  });

  it('has no record for a task that has only dispatches', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    expect(store.findTask(taskDir)).toBe(null);
    expect(store.listTasks()).toEqual([{ taskDir, task: null }]);
    store.deleteDispatch(taskDir, 'd1');
    expect(store.listTasks()).toEqual([]);
  });

  it.each(['', 'not JSON', '[]'])(
    'that is damaged (%j) is STORE_CORRUPT, and does not prevent writes to dispatches',
    (content) => {
      const root = makeRoot();
      const store = openStore(root);
      store.putTask(taskDir, task);
      const file = join(root, taskDir, 'task.json');
      writeFileSync(file, content);
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      store.updateDispatch(taskDir, 'd1', { status: 'completed' });
      expect(store.getDispatchEnvelopes(taskDir)).toHaveLength(1);
      expect(() => store.findTask(taskDir)).toThrow(`${file} is damaged at byte 0`);
      const other = 'lab/tasks/other';
      store.putTask(other, task);
      expect(store.listTasks()).toMatchObject([
        { taskDir, task: null, error: { code: 'STORE_CORRUPT', details: { file } } },
        { taskDir: other, task },
      ]);
      expect(readFileSync(file, 'utf8')).toBe(content);
      store.putTask(taskDir, task);
      expect(store.findTask(taskDir)).toEqual(task);
      store.close();
      expect(JSON.parse(readFileSync(file, 'utf8')).dispatches).toMatchObject([{ status: 'completed' }]);
    },
  );

  it('gets a new index if the index is damaged or old', () => {
    const root = makeRoot();
    const first = openStore(root);
    first.putTask(taskDir, task);
    first.createDispatch(taskDir, makeEnvelope('d1'));
    first.close();
    const file = join(root, taskDir, 'task.json');
    for (const dispatches of ['nonsense', [{ dispatchId: 4 }], [], undefined]) {
      writeFileSync(file, JSON.stringify({ ...task, dispatches }));
      const store = openClaimed(root);
      store.updateDispatch(taskDir, 'd1', { status: 'aborted' });
      store.close();
      expect(JSON.parse(readFileSync(file, 'utf8')).dispatches).toMatchObject([
        { dispatchId: 'd1', status: 'aborted' },
      ]);
      expect(openStore(root).findTask(taskDir)).toEqual(task);
    }
  });

  it('has, after the next change, the end of a dispatch that ended while another process wrote the file', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    const others = new WriterLocks(thisSystem, join(root, '.writers'), 15_000);
    const lock = taskLock(join(root, taskDir));
    others.take(lock);
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    store.close();
    others.release(lock.path);
    const next = openStore(root);
    next.createDispatch(taskDir, makeEnvelope('d2'));
    next.close();
    const { dispatches } = JSON.parse(readFileSync(join(root, taskDir, 'task.json'), 'utf8'));
    expect(dispatches).toMatchObject([{ status: 'completed' }, { status: 'running' }]);
  });

  it('omits a damaged dispatch from its index and keeps its record', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    writeFileSync(dispatchFile(root, 'd2'), 'rubbish');
    store.putTask(taskDir, task);
    expect(store.findTask(taskDir)).toEqual(task);
    expect(codeOf(() => store.getDispatchEnvelopes(taskDir))).toBe('STORE_CORRUPT');
  });
});

describe('the root', () => {
  it('lists tasks at any depth and skips other files', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.putTask('a/tasks/one', task);
    store.createDispatch('a/tasks/one/inner', makeEnvelope('d1'));
    store.createDispatch('b', makeEnvelope('d1'));
    mkdirSync(join(root, '.git/tasks/dispatches'), { recursive: true });
    mkdirSync(join(root, 'c/empty/dispatches'), { recursive: true });
    writeFileSync(join(root, 'c/readme.json'), '{}');
    writeFileSync(join(root, 'b/dispatches/notes.txt'), 'hello');
    expect(store.listTasks().map((listing) => listing.taskDir)).toEqual([
      'a/tasks/one',
      'a/tasks/one/inner',
      'b',
    ]);
    expect(store.getDispatchEnvelopes('b')).toHaveLength(1);
  });

  it('is not left through a symbolic link', () => {
    const root = makeRoot();
    const outside = makeRoot();
    const store = openStore(root);
    symlinkSync(outside, join(root, 'away'));
    mkdirSync(join(root, 'home'));
    symlinkSync(outside, join(root, 'home/dispatches'));
    for (const dir of ['away', 'away/deeper', 'home']) {
      expect(codeOf(() => store.createDispatch(dir, makeEnvelope('d1')))).toBe('STORE_INVALID_PATH');
      expect(codeOf(() => store.putTask(dir, task))).toBe('STORE_INVALID_PATH');
      expect(codeOf(() => store.getDispatchEnvelopes(dir))).toBe('STORE_INVALID_PATH');
    }
    // A linked folder of tasks is skipped. A linked folder of dispatches hides none of the others.
    expect(store.listTasks()).toEqual([
      { taskDir: 'home', task: null, error: expect.objectContaining({ code: 'STORE_INVALID_PATH' }) },
    ]);
    store.createDispatch('other', makeEnvelope('d1'));
    expect(store.listTasks().map((listing) => listing.taskDir)).toEqual(['home', 'other']);
    expect(store.listDispatches().dispatches).toMatchObject([
      { taskDir: 'other', dispatchId: 'd1' },
      { taskDir: 'home', dispatchId: null, error: { code: 'STORE_INVALID_PATH' } },
    ]);
  });

  it('is listed if its folder of dispatches is a link to another folder below the root', () => {
    const root = makeRoot();
    const store = openStore(root);
    mkdirSync(join(root, 'home'));
    mkdirSync(join(root, 'disk'));
    symlinkSync(join(root, 'disk'), join(root, 'home/dispatches'));
    store.createDispatch('home', makeEnvelope('d1'));
    expect(store.listTasks()).toEqual([{ taskDir: 'home', task: null }]);
    expect(store.getDispatchEnvelopes('home')).toHaveLength(1);
  });

  it('may itself be a symbolic link', () => {
    const root = makeRoot();
    const link = join(makeRoot(), 'link');
    symlinkSync(root, link);
    const store = openStore(link);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    expect(openStore(root).getDispatchEnvelopes(taskDir)).toHaveLength(1);
  });

  it.each(['dispatches', 'a/Dispatches/b', 'a/task.json'])(
    'has no task named %s, because the store reserves that name',
    (dir) => {
      const store = openStore(makeRoot());
      expect(codeOf(() => store.createDispatch(dir, makeEnvelope('d1')))).toBe('STORE_INVALID_PATH');
    },
  );

  it('is STORE_UNAVAILABLE with the name of the file if a part of its path is a file', () => {
    const root = makeRoot();
    writeFileSync(join(root, 'file'), '');
    expect(codeOf(() => openStore(join(root, 'file')))).toBe('STORE_UNAVAILABLE');
    const store = openStore(root);
    expect(() => store.createDispatch('file/task', makeEnvelope('d1'))).toThrow(join(root, 'file'));
    expect(codeOf(() => store.createDispatch('file/task', makeEnvelope('d1')))).toBe('STORE_UNAVAILABLE');
  });

  it('is STORE_CORRUPT, not an empty log, for a folder in the place of a dispatch', () => {
    const root = makeRoot();
    const store = openStore(root);
    mkdirSync(dispatchFile(root, 'd1'), { recursive: true });
    expect(codeOf(() => store.getDispatchEvents(taskDir, 'd1'))).toBe('STORE_CORRUPT');
    expect(codeOf(() => store.getDispatchEnvelopes(taskDir))).toBe('STORE_CORRUPT');
  });

  it('reads a dispatch whose file was removed and created again', () => {
    const root = makeRoot();
    const writer = openStore(root);
    const reader = openStore(root);
    writer.createDispatch(taskDir, makeEnvelope('d1'));
    writer.appendEvents(taskDir, 'd1', [makeEvent(1), makeEvent(2)]);
    expect(reader.readEvents(taskDir, 'd1').events).toHaveLength(2);
    writer.deleteDispatch(taskDir, 'd1');
    expect(codeOf(() => reader.readEvents(taskDir, 'd1'))).toBe('STORE_DISPATCH_NOT_FOUND');
    writer.createDispatch(taskDir, makeEnvelope('d1'));
    writer.appendEvent(taskDir, 'd1', makeEvent(3));
    expect(reader.readEvents(taskDir, 'd1').events).toEqual([makeEvent(3)]);
    rmSync(dispatchFile(root, 'd1'));
    expect(codeOf(() => reader.getRecentEvents(taskDir, 'd1', 1))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(codeOf(() => writer.close())).toBe('STORE_CORRUPT');
  });
});
