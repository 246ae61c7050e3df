import { ManualClock } from '@hansard/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Files } from '../src/files.ts';
import { ScopeWatch } from '../src/scope-watch.ts';
import { thisSystem } from '../src/store-system.ts';
import { makeEnvelope } from './envelope.ts';
import { makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

interface Setup {
  /** The code with which the system refuses to watch a folder. */
  readonly refusal?: string;
  readonly mostFolders?: number;
  readonly tasks?: readonly string[];
}

/** A store with a dispatch in each task, and a watch of it whose system reports changes only when `report` is called. */
function watched({ refusal, mostFolders, tasks = [taskDir] }: Setup = {}) {
  const root = makeRoot();
  const writer = openStore(root);
  for (const task of tasks) writer.createDispatch(task, makeEnvelope('d1'));
  const clock = new ManualClock();
  const listeners = new Map<string, (name: string | null) => void>();
  let stats = 0;
  const files: Files = {
    ...thisSystem.files,
    stat(path) {
      stats += 1;
      return thisSystem.files.stat(path);
    },
    watch(folder, onChange) {
      if (refusal !== undefined)
        throw Object.assign(new Error(`${refusal}: watch '${folder}'`), { code: refusal, syscall: 'watch' });
      const name = folder.slice(root.length + 1);
      expect(listeners.has(name), `${name} is watched twice`).toBe(false);
      listeners.set(name, onChange);
      return () => listeners.delete(name);
    },
  };
  const scopes = new ScopeWatch(files, clock, root, mostFolders);
  onTestFinished(() => scopes.close());
  const listen = (scope: Parameters<ScopeWatch['add']>[0]) => {
    let calls = 0;
    const stop = scopes.add(scope, () => {
      calls += 1;
    });
    /** The calls since the last time. */
    const taken = async () => {
      await Promise.resolve();
      const count = calls;
      calls = 0;
      return count;
    };
    return { stop, taken };
  };
  const report = (folder: string, name: string | null) => listeners.get(folder)?.(name);
  const statsIn = (ms: number) => {
    stats = 0;
    clock.advance(ms);
    return stats;
  };
  return { writer, clock, listeners, scopes, listen, report, statsIn };
}

const dispatches = `${taskDir}/dispatches`;

describe('a watch of files', () => {
  it('looks at no file for 5 seconds where the system watches each folder, and then finds what it did not report', async () => {
    const { writer, clock, listen, statsIn } = watched();
    const listeners = [{}, { taskDir }, { taskDir, dispatchId: 'd1' }].map(listen);
    expect(statsIn(4_999)).toBe(0);
    writer.appendEvent(taskDir, 'd1', makeEvent(1));
    clock.advance(1);
    for (const { taken } of listeners) expect(await taken()).toBe(1);
    clock.advance(20_000);
    for (const { taken } of listeners) expect(await taken()).toBe(0);
  });

  it.each([
    ['refuses to watch one more folder', { refusal: 'ENOSPC' }],
    ['has no free descriptor', { refusal: 'EMFILE' }],
    ['would have to watch more folders than the store may', { mostFolders: 1 }],
  ])('looks every 250 ms where the system %s', async (_, setup) => {
    const { writer, clock, listen } = watched(setup);
    const listeners = [{}, { taskDir }].map(listen);
    writer.appendEvent(taskDir, 'd1', makeEvent(1));
    clock.advance(249);
    for (const { taken } of listeners) expect(await taken()).toBe(0);
    clock.advance(1);
    for (const { taken } of listeners) expect(await taken()).toBe(1);
  });

  it('reports a changed dispatch or record once to each scope that has it, and no lock, heartbeat or temporary file', async () => {
    const { clock, listen, report } = watched({ tasks: [taskDir, 'lab/other'] });
    const scopes = [{}, { taskDir }, { taskDir, dispatchId: 'd1' }, { taskDir: 'lab/other' }];
    const listeners = scopes.map(listen);
    for (const [folder, name, expected] of [
      [dispatches, 'd1.json', [1, 1, 1, 0]],
      [dispatches, 'd2.json', [1, 1, 0, 0]],
      [dispatches, null, [1, 1, 1, 0]],
      [taskDir, 'task.json', [1, 1, 0, 0]],
      ['lab/other/dispatches', 'd1.json', [1, 0, 0, 1]],
      [dispatches, 'd1.lock.3', [0, 0, 0, 0]],
      [dispatches, '.d1.3.tmp', [0, 0, 0, 0]],
      [taskDir, '.task.lock.1', [0, 0, 0, 0]],
      [taskDir, '.task.tmp', [0, 0, 0, 0]],
      ['', '.writers', [0, 0, 0, 0]],
    ] as const) {
      report(folder, name);
      const calls = await Promise.all(listeners.map(({ taken }) => taken()));
      expect(calls, `${folder} ${name}`).toEqual(expected);
      clock.advance(100);
    }
  });

  it('calls a listener of many dispatches at most every 100 ms, and after the last change', async () => {
    const { clock, listen, report } = watched();
    const listeners = [{}, { taskDir }].map(listen);
    const calls = [0, 0];
    for (let ms = 0; ms < 1_000; ms += 10) {
      report(dispatches, 'd1.json');
      for (const [at, { taken }] of listeners.entries()) calls[at] = (calls[at] ?? 0) + (await taken());
      clock.advance(10);
    }
    for (const count of calls) expect(count).toBeLessThanOrEqual(10);
    report(dispatches, 'd1.json');
    clock.advance(100);
    for (const { taken } of listeners) expect(await taken()).toBeGreaterThanOrEqual(1);
  });

  it('watches each folder once for all listeners, up to a limit, and none after the last has stopped', async () => {
    const tasks = Array.from({ length: 20 }, (_, at) => `lab/t${at}`);
    const { listen, listeners } = watched({ tasks, mostFolders: 12 });
    const stops = [{}, {}, { taskDir: 'lab/t0' }, { taskDir: 'lab/t19' }].map((scope) => listen(scope).stop);
    expect(listeners.size).toBe(12);
    for (const stop of stops) stop();
    expect(listeners.size).toBe(0);
  });

  it('watches the folders of a new task before it calls the listener', async () => {
    const { writer, clock, listen, listeners, report } = watched();
    const { taken } = listen({});
    writer.createDispatch('lab/new/task', makeEnvelope('d1'));
    report('lab', 'new');
    expect([...listeners.keys()]).toEqual(expect.arrayContaining(['lab/new', 'lab/new/task/dispatches']));
    expect(await taken()).toBe(1);
    clock.advance(100);
    report('lab/new/task/dispatches', 'd1.json');
    expect(await taken()).toBe(1);
  });

  it('of a task that does not exist yet reports its first dispatch', async () => {
    const { writer, clock, listen, listeners } = watched();
    const { taken } = listen({ taskDir: 'lab/later' });
    clock.advance(10_000);
    expect(await taken()).toBe(0);
    writer.createDispatch('lab/later', makeEnvelope('d1'));
    clock.advance(250);
    expect(await taken()).toBe(1);
    expect(listeners.has('lab/later/dispatches')).toBe(true);
  });
});
