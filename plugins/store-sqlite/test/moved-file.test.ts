import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type StoreError, storeErrors } from '@hansard/provider';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqliteStore, type SqliteStore } from '../src/index.ts';
import { codeOf, createGate, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

afterEach(() => void vi.restoreAllMocks());

const touches: readonly (readonly [string, (path: string) => void])[] = [
  ['renamed', (path) => renameSync(path, `${path}.moved`)],
  ['renamed by another process', (path) => void execFileSync('mv', [path, `${path}.moved`])],
  ['removed', (path) => rmSync(path)],
  ['removed with its log', (path) => removeAll(path)],
  ['replaced by a copy', (path) => replaceByCopy(path)],
];

function removeAll(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`);
}

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(path, `${path}.moved`);
  renameSync(`${path}.copy`, path);
}

/** The time that the store reads; it changes only when it is set. */
function stopTime(): { pass(ms: number): void } {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    pass: (ms) => {
      now += ms;
    },
  };
}

/** A store that has just checked the place of its file. Errors of its close are ignored. */
function writingStore(path: string): SqliteStore {
  const store = openSqliteStore({ path });
  onTestFinished(() => void codeOf(() => store.close()));
  store.createDispatch(taskDir, envelope());
  appendOne(store, 0);
  return store;
}

function appendOne(store: SqliteStore, position: number): void {
  for (const event of growingEvents(1, position)) store.appendEvent(taskDir, dispatchId, event);
}

function errorOf(work: () => unknown): StoreError {
  try {
    work();
  } catch (error) {
    if (storeErrors.is(error)) return error;
    throw error;
  }
  throw new Error('It reported nothing.');
}

describe.each(touches)('a database that was %s while a store writes to it', (_, touch) => {
  it('refuses every append more than 50 ms after the last check, single or as a batch', () => {
    const path = temporaryPath();
    const time = stopTime();
    const store = writingStore(path);
    touch(path);
    time.pass(50);
    for (let round = 0; round < 3; round += 1) {
      expect(codeOf(() => appendOne(store, 1))).toBe('STORE_CORRUPT');
      expect(codeOf(() => store.appendEvents(taskDir, dispatchId, growingEvents(9, 1)))).toBe(
        'STORE_CORRUPT',
      );
    }
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(1));
  });

  it('refuses every other write', () => {
    const path = temporaryPath();
    stopTime();
    const store = writingStore(path);
    touch(path);
    for (const write of [
      () => store.createDispatch(taskDir, envelope({ dispatchId: 'another' })),
      () => store.updateDispatch(taskDir, dispatchId, { status: 'completed' }),
      () => store.putTask(taskDir, {} as never),
      () => store.deleteDispatch(taskDir, dispatchId),
    ])
      expect(codeOf(write)).toBe('STORE_CORRUPT');
  });

  it('reports at the next write the number of appends that were acknowledged before it was noticed', () => {
    const path = temporaryPath();
    const time = stopTime();
    const store = writingStore(path);
    store.updateDispatch(taskDir, dispatchId, { cost: 1 });
    touch(path);
    for (let position = 1; position <= 20; position += 1) appendOne(store, position);
    time.pass(50);
    const error = errorOf(() => appendOne(store, 21));
    // The update is one of them: it was checked before it was written.
    expect(error).toMatchObject({ code: 'STORE_CORRUPT', details: { file: path, unseenWrites: 21 } });
    expect(error.message).toContain('Nothing of this call was written. The last 21 acknowledged writes');
    expect(codeOf(() => store.close())).toBe('none');
  });

  it('is reported at close if no later write has reported it', () => {
    const path = temporaryPath();
    stopTime();
    const store = writingStore(path);
    touch(path);
    store.appendEvents(taskDir, dispatchId, growingEvents(200, 1));
    expect(errorOf(() => store.close())).toMatchObject({ code: 'STORE_CORRUPT', details: { file: path } });
    expect(codeOf(() => store.close())).toBe('none');
    expect(codeOf(() => appendOne(store, 201))).toBe('STORE_CLOSED');
  });

  it('is not reported by a store that wrote nothing', () => {
    const path = temporaryPath();
    storeWithDispatch(path).close();
    const reader = openStore(path);
    expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([]);
    touch(path);
    expect(codeOf(() => reader.close())).toBe('none');
  });
});

describe('the data of a database that was renamed while a store writes to it', () => {
  it.each([
    ['renamed', touches[0]?.[1]],
    ['replaced by a copy', touches[4]?.[1]],
  ])('is where the error says, and whole once it is moved back: %s', (_, touch) => {
    const path = temporaryPath();
    stopTime();
    const store = writingStore(path);
    touch?.(path);
    for (let position = 1; position < 20; position += 1) appendOne(store, position);
    const error = errorOf(() => store.close());
    if (process.platform === 'linux') {
      expect(error.details.movedTo).toBe(`${path}.moved`);
      expect(error.message).toContain(`Its data is in ${path}.moved and its latest events in ${path}-wal`);
    }
    expect(existsSync(`${path}-wal`)).toBe(true);
    renameSync(`${path}.moved`, path);
    expect(openStore(path).getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(20));
  });

  it('accepts writes again after it was moved back', () => {
    const path = temporaryPath();
    const time = stopTime();
    const store = writingStore(path);
    renameSync(path, `${path}.moved`);
    time.pass(50);
    expect(codeOf(() => appendOne(store, 1))).toBe('STORE_CORRUPT');
    renameSync(`${path}.moved`, path);
    appendOne(store, 1);
    expect(codeOf(() => store.close())).toBe('none');
    expect(openStore(path).getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(2));
  });
});

describe('a process that appends without end', () => {
  it.each(touches)(
    'is stopped by an error with the number of writes that may be lost when its database is %s',
    async (_, touch) => {
      const path = temporaryPath();
      const script = join(import.meta.dirname, 'processes/append-until-stopped.ts');
      const child: ChildProcess = spawn(
        process.execPath,
        ['--conditions=@hansard/source', script, path, '1000000', dispatchId],
        { stdio: ['pipe', 'pipe', 'pipe'] },
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      if (child.stdout === null || child.stderr === null) throw new Error('It has no output.');
      const said = text(child.stderr);
      const begun = createGate();
      let acknowledged = 0;
      createInterface({ input: child.stdout }).on('line', () => {
        acknowledged += 1;
        if (acknowledged === 200) begun.open();
      });
      const ended = once(child, 'close');
      await begun.opened;
      touch(path);
      const [code] = await ended;
      expect(code).not.toBe(0);
      const message = await said;
      expect(message).toContain('STORE_CORRUPT');
      const unseen = Number(/unseenWrites: (\d+)/.exec(message)?.[1] ?? Number.NaN);
      expect(unseen).toBeGreaterThan(0);
      // The dispatch was created before the appends.
      expect(unseen).toBeLessThanOrEqual(1 + acknowledged);
    },
  );
});
