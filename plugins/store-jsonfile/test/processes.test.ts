import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TaskRecord } from '@hansard/events';
import { currentProcess } from '@hansard/store-kit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeRoot,
  openClaimed,
  openStore,
  readDocument,
  taskDir,
} from './sample.ts';

const condition = '--conditions=@hansard/source';

function script(name: string): string {
  return join(import.meta.dirname, 'processes', `${name}.ts`);
}

/** Starts a script of `processes/`; it is killed when the test ends. */
function start(name: string, ...args: string[]): ChildProcess & { lines: AsyncIterableIterator<string> } {
  const child = spawn(process.execPath, [condition, script(name), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return Object.assign(child, { lines });
}

async function nextLine(child: { lines: AsyncIterableIterator<string> }): Promise<string> {
  return (await child.lines.next()).value;
}

function prepare(...dispatchIds: string[]): string {
  const root = makeRoot();
  const store = openStore(root);
  for (const id of dispatchIds) store.createDispatch(taskDir, makeEnvelope(id));
  store.close();
  return root;
}

describe('a process that is killed while it appends', () => {
  it('loses nothing that was acknowledged, and the next process continues', async () => {
    const root = prepare('d1');
    let expected = 0;
    for (const length of ['10', '5000', '200000']) {
      const child = start('append-events', root, taskDir, 'd1', length);
      let acknowledged = 0;
      for (let line = 0; line < 3; line += 1)
        acknowledged = Number((await nextLine(child)).slice('ack '.length));
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      for await (const line of child.lines) acknowledged = Number(line.slice('ack '.length));
      await ended;
      const store = openStore(root);
      const events = store.getDispatchEvents(taskDir, 'd1').slice(expected);
      expect(events.length).toBeGreaterThanOrEqual(acknowledged);
      expect(events.map(({ data }) => data.number)).toEqual(events.map((_, at) => at + 1));
      expect(events.length % 4).toBeLessThan(2);
      expected += events.length;
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', { ...makeEvent(expected), id: `~${length}` });
      expected += 1;
      expect(readDocument(dispatchFile(root, 'd1')).events).toHaveLength(expected);
      store.close();
    }
  });
});

describe('a reader beside a busy writer of another process', () => {
  it('never fails, never reads half an event or half a batch, and never misses an event that it has read', async () => {
    const root = prepare('d1');
    const child = start('append-events', root, taskDir, 'd1', '3000');
    await nextLine(child);
    const store = openStore(root);
    const fresh = openStore(root);
    let seen = 0;
    for (let after = -1, reads = 0; reads < 3_000; reads += 1) {
      const page = store.readEvents(taskDir, 'd1', { after, limit: 100 });
      page.events.forEach((event, at) => {
        if (event.data.number !== after + at + 2)
          throw new Error(`Event ${after + at + 1} is ${event.data.number}.`);
      });
      after = page.next;
      const [latest] = fresh.getRecentEvents(taskDir, 'd1', 1);
      const count = Number(latest?.data.number);
      if (count % 4 > 1 || count < seen) throw new Error(`After ${seen} events there were ${count}.`);
      seen = count;
      expect(store.getDispatchEnvelope(taskDir, 'd1')).toMatchObject({ status: 'running' });
    }
    expect(seen).toBeGreaterThan(100);
    expect(store.getRepairs()).toEqual([]);
    for (const write of [
      () => store.claimDispatch(taskDir, 'd1'),
      () => store.appendEvent(taskDir, 'd1', makeEvent(1)),
    ]) {
      expect(codeOf(write)).toBe('STORE_LOCKED');
      expect(write).toThrow(`process ${child.pid}`);
    }
  });
});

describe('processes that claim one dispatch at the same time', () => {
  it('leave it to exactly one of them, including when the process of the last owner has exited', async () => {
    const root = prepare('d1', 'd2', 'd3');
    const { pid } = spawnSync(process.execPath, ['--version']);
    const gone = { ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' };
    for (const id of ['d2', 'd3'])
      writeFileSync(dispatchFile(root, id).replace(/json$/, 'lock.2'), JSON.stringify(gone));
    for (const id of ['d1', 'd2', 'd3']) {
      const children = Array.from({ length: 4 }, () => start('take-lock', root, taskDir, id));
      for (const child of children) await nextLine(child);
      for (const child of children) child.stdin?.write('go\n');
      const outcomes = await Promise.all(children.map(nextLine));
      expect(outcomes.sort()).toEqual(['STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED', 'appended']);
      expect(openStore(root).getDispatchEvents(taskDir, id)).toHaveLength(1);
      for (const child of children) child.kill('SIGKILL');
    }
  });
});

describe('processes that work on one task at once', () => {
  it('lose neither the record of the task nor a dispatch', async () => {
    const root = prepare();
    const store = openStore(root);
    const children = ['a', 'b'].map((prefix) => start('create-dispatches', root, taskDir, prefix, '25'));
    const task = { slug: 'maps', name: 'Maps', project: 'lab', created: '2026-03-01T09:30:00.000Z' };
    // A store waits for 100 milliseconds only, and the machine may be busy for longer.
    const putTask = (record: TaskRecord) => {
      while (codeOf(() => store.putTask(taskDir, record)) === 'STORE_LOCKED');
    };
    for (let round = 0; round < 25; round += 1) {
      putTask({ ...task, status: `round ${round}` });
      await Promise.all(children.map(nextLine));
      expect(store.findTask(taskDir)).toEqual({ ...task, status: `round ${round}` });
    }
    expect(store.getDispatchEnvelopes(taskDir)).toHaveLength(50);
    putTask({ ...task, status: 'done' });
    expect(store.findTask(taskDir)).toEqual({ ...task, status: 'done' });
    // The index is written later: any change has them all.
    store.createDispatch(taskDir, makeEnvelope('last'));
    store.close();
    const { dispatches, status } = JSON.parse(readFileSync(join(root, taskDir, 'task.json'), 'utf8'));
    expect([dispatches.length, status]).toEqual([51, 'done']);
  });

  it('create a dispatch of one name only once', async () => {
    const root = prepare();
    const store = openStore(root);
    const child = start('create-dispatches', root, taskDir, 'd', '1');
    await nextLine(child);
    expect(codeOf(() => store.createDispatch(taskDir, makeEnvelope('d0')))).toBe('STORE_DISPATCH_EXISTS');
  });
});

describe('watching a dispatch', () => {
  it('reports appends by another process', async () => {
    const root = prepare('d1');
    const store = openStore(root);
    const noticed = new Promise<void>((resolve) => {
      onTestFinished(
        store.watch({ taskDir, dispatchId: 'd1' }, () => {
          if (store.getRecentEvents(taskDir, 'd1', 1).length > 0) resolve();
        }),
      );
    });
    const child = start('take-lock', root, taskDir, 'd1');
    await nextLine(child);
    child.stdin?.write('go\n');
    await noticed;
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
  });

  it('reports changes by this store, and none after it was stopped', async () => {
    const root = prepare('d1');
    const store = openClaimed(root);
    let calls = 0;
    let changed = Promise.withResolvers<void>();
    const stop = store.watch({ taskDir, dispatchId: 'd1' }, () => {
      calls += 1;
      changed.resolve();
    });
    for (const change of [
      () => store.appendEvent(taskDir, 'd1', makeEvent(1)),
      () => store.appendEvents(taskDir, 'd1', [makeEvent(2)]),
      () => store.updateDispatch(taskDir, 'd1', { cost: 1, structuredResult: 'x'.repeat(5_000) }),
    ]) {
      changed = Promise.withResolvers();
      change();
      await changed.promise;
    }
    stop();
    const before = calls;
    store.appendEvent(taskDir, 'd1', makeEvent(3));
    await Promise.resolve();
    expect(calls).toBe(before);
  });

  it('is STORE_DISPATCH_NOT_FOUND for a missing dispatch', () => {
    const store = openStore(prepare());
    expect(codeOf(() => store.watch({ taskDir, dispatchId: 'd1' }, () => {}))).toBe(
      'STORE_DISPATCH_NOT_FOUND',
    );
  });
});

describe.skipIf(process.platform === 'win32')('a disk that is full', () => {
  it('makes the append STORE_UNAVAILABLE, leaves the log as it was, and accepts the next event that fits', async () => {
    const root = prepare('d1');
    const command = 'ulimit -f 20 && exec "$0" "$@"';
    const child = spawn('bash', [
      '-c',
      command,
      process.execPath,
      condition,
      script('fill-disk'),
      root,
      taskDir,
      'd1',
    ]);
    let output = '';
    for await (const text of child.stdout) output += text;
    expect(output.trim().split('\n')).toEqual([
      'appended 1',
      'STORE_UNAVAILABLE 1',
      'STORE_UNAVAILABLE 1',
      'appended 3',
    ]);
    expect(readDocument(dispatchFile(root, 'd1')).events).toHaveLength(3);
    expect(readFileSync(dispatchFile(root, 'd1')).length).toBeLessThan(6_000);
  });
});
