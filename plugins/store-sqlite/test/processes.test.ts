import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dispatchId, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import {
  codeOf,
  createGate,
  type Gate,
  openStore,
  storeWithDispatch,
  temporaryPath,
} from './temporary-store.ts';

interface Writer {
  readonly process: ChildProcess;
  readonly acknowledged: string[];
  /** Resolves when it has reported this number of events. */
  reached(count: number): Promise<void>;
  readonly ended: Promise<unknown>;
}

/** A process that appends `count` growing events, then keeps its store open until its input ends. */
function startWriter(path: string, count: number, dispatch = dispatchId): Writer {
  const script = join(import.meta.dirname, 'processes/append-until-stopped.ts');
  const child = spawn(
    process.execPath,
    ['--conditions=@hansard/source', script, path, String(count), dispatch],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const acknowledged: string[] = [];
  const waiting: { readonly count: number; readonly gate: Gate }[] = [];
  const settle = (done: (count: number) => boolean) => {
    for (const waiter of waiting) if (done(waiter.count)) waiter.gate.open();
  };
  createInterface({ input: child.stdout }).on('line', (id) => {
    acknowledged.push(id);
    settle((wanted) => acknowledged.length >= wanted);
  });
  const ended = once(child, 'close');
  void ended.then(() => settle(() => true));
  return {
    process: child,
    acknowledged,
    ended,
    reached: (wanted) => {
      const gate = createGate();
      waiting.push({ count: wanted, gate });
      settle((other) => acknowledged.length >= other);
      return gate.opened;
    },
  };
}

it('reads the events of another process, and cannot claim its dispatch until that process closes its store', async () => {
  const path = temporaryPath();
  const store = openStore(path);
  const writer = startWriter(path, 3);
  await writer.reached(3);
  expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(3));
  const append = () => store.appendEvent(taskDir, dispatchId, textEvent('f'));
  expect(append).toThrow(`process ${writer.process.pid} on`);
  expect(() => store.claimDispatch(taskDir, dispatchId)).toThrow(`process ${writer.process.pid} on`);
  expect(codeOf(append)).toBe('STORE_LOCKED');
  writer.process.stdin?.end();
  await writer.ended;
  store.claimDispatch(taskDir, dispatchId);
  append();
  expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([...growingEvents(3), textEvent('f')]);
});

it('loses no acknowledged event when a writer is killed, and takes over its dispatch', async () => {
  const path = temporaryPath();
  const store = openStore(path);
  const writer = startWriter(path, 1_000_000);
  await writer.reached(200);
  writer.process.kill('SIGKILL');
  await writer.ended;
  const events = store.getDispatchEvents(taskDir, dispatchId);
  expect(events.length).toBeGreaterThanOrEqual(writer.acknowledged.length);
  expect(events).toEqual(growingEvents(events.length));
  store.claimDispatch(taskDir, dispatchId);
  store.appendEvent(taskDir, dispatchId, textEvent('f'));
  store.close();
  expect(openStore(path).getRecentEvents(taskDir, dispatchId, 1)).toEqual([textEvent('f')]);
});

it('lets several processes create a database at the same time and write to it', async () => {
  const path = temporaryPath();
  const dispatches = ['one', 'two', 'three'];
  const writers = dispatches.map((id) => startWriter(path, 300, id));
  await Promise.all(writers.map((writer) => writer.reached(300)));
  for (const writer of writers) writer.process.stdin?.end();
  await Promise.all(writers.map((writer) => writer.ended));
  const store = openStore(path);
  for (const id of dispatches) expect(store.getDispatchEvents(taskDir, id)).toEqual(growingEvents(300));
});

it('keeps a process running while it watches, and lets it exit when it stops watching', async () => {
  const path = temporaryPath();
  const store = storeWithDispatch(path);
  const script = join(import.meta.dirname, 'processes/watch-until-stopped.ts');
  const child = spawn(process.execPath, ['--conditions=@hansard/source', script, path, taskDir, dispatchId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(line);
    if (line === 'watching') store.appendEvent(taskDir, dispatchId, textEvent('a'));
  });
  const [code] = await once(child, 'close');
  expect({ code, said }).toEqual({ code: 0, said: ['watching', 'changed'] });
});
