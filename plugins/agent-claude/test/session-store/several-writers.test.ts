import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SessionKey } from '@anthropic-ai/claude-agent-sdk';
import { openDispatchStore } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSessionStore } from '../../src/session-store.ts';
import { closedAtEnd, newFolder, openFolder } from './open-stores.ts';
import { entry } from './session-store-contract.ts';

const main: SessionKey = { projectKey: 'project', sessionId: 'session' };
const task = 'app/tasks/one';

describe('an entry with a uuid is stored once', () => {
  it('when the same session store is made again and again', async () => {
    const { store } = inMemory();
    for (let n = 0; n < 3; n += 1) {
      const sessions = createSessionStore({ store, taskDir: task });
      await sessions.append(main, [entry({ uuid: 'a' }), entry({ uuid: `b-${n}` })]);
    }
    const stored = await createSessionStore({ store, taskDir: task }).load(main);
    expect(stored?.map(({ uuid }) => uuid)).toEqual(['a', 'b-0', 'b-1', 'b-2']);
  });

  it('when two session stores on one store append it at the same moment', async () => {
    const { store, sessions } = inMemory();
    const other = createSessionStore({ store, taskDir: task });
    const batches = Array.from({ length: 20 }, (_, n) => [entry({ uuid: `uuid-${n}` })]);
    await Promise.all(batches.flatMap((batch) => [sessions.append(main, batch), other.append(main, batch)]));
    expect(await sessions.load(main)).toEqual(batches.flat());
  });

  it('when another process stored it meanwhile', async () => {
    const root = newFolder();
    const here = createSessionStore({ store: openFolder(root) });
    const there = createSessionStore({ store: openFolder(root) });
    await here.append(main, [entry({ uuid: 'a' })]);
    await there.append(main, [entry({ uuid: 'a' }), entry({ uuid: 'b' })]);
    await here.append(main, [entry({ uuid: 'b' }), entry({ uuid: 'c' })]);
    expect((await there.load(main))?.map(({ uuid }) => uuid)).toEqual(['a', 'b', 'c']);
  });

  it('when the session was deleted by another process and written anew', async () => {
    const root = newFolder();
    let now = Date.parse('2026-05-01T08:00:00.000Z');
    const clock = { now: () => (now += 1_000) };
    const here = createSessionStore({ store: openFolder(root), ...clock });
    const there = createSessionStore({ store: openFolder(root), ...clock });
    await here.append(main, [entry({ uuid: 'a' }), entry({ uuid: 'b' })]);
    await there.delete(main);
    await there.append(main, [entry({ uuid: 'c' })]);
    await here.append(main, [entry({ uuid: 'a' }), entry({ uuid: 'c' })]);
    expect((await here.load(main))?.map(({ uuid }) => uuid)).toEqual(['c', 'a']);
  });

  it('when a process was killed at any moment and another one imports all of it again', async () => {
    const root = newFolder();
    for (const killedAfter of [3, 1, 5]) {
      const worker = startWorker(root);
      await numbersOf(worker, killedAfter);
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
    const sessions = createSessionStore({ store: openFolder(root) });
    const all = Array.from({ length: 40 }, (_, n) => ({ type: 'user', uuid: `uuid-${n}`, n }));
    await sessions.append(main, all);
    const stored = await sessions.load(main);
    const withUuid = stored?.filter(({ uuid }) => uuid !== undefined) ?? [];
    expect(withUuid.slice(0, 40)).toEqual(all);
    expect(new Set(withUuid.map(({ uuid }) => uuid)).size).toBe(withUuid.length);
  }, 240_000);
});

it('loses nothing that was acknowledged when its process is killed, and nothing of a batch comes alone', async () => {
  const root = newFolder();
  const worker = startWorker(root);
  const acknowledged = await numbersOf(worker, 20);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  const stored = (await createSessionStore({ store: openFolder(root) }).load(main)) ?? [];
  const pairs = stored.map(({ type, n }) => `${type} ${n}`);
  expect(pairs).toEqual(
    Array.from({ length: pairs.length / 2 }, (_, n) => [`user ${n}`, `mode ${n}`]).flat(),
  );
  expect(pairs.length / 2).toBeGreaterThanOrEqual(acknowledged.length);
}, 240_000);

it('lets no other process write between its look at a session and its append', async () => {
  const root = newFolder();
  const there = createSessionStore({ store: openFolder(root), taskDir: task });
  await there.append(main, [entry({ uuid: 'a' })]);
  const files = openJsonFileStore({ root });
  const refused: unknown[] = [];
  const looking = new Proxy(files, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name !== 'readEvents')
        return typeof value === 'function' ? value.bind(target) : value;
      return async (...asked: unknown[]) => {
        await there.append(main, [entry({ uuid: 'b' })]).catch((error: unknown) => refused.push(error));
        return value.apply(target, asked);
      };
    },
  });
  const here = closedAtEnd(openDispatchStore(looking));
  await createSessionStore({ store: here, taskDir: task }).append(main, [entry({ uuid: 'b', n: 1 })]);
  expect(refused.length).toBeGreaterThan(0);
  for (const error of refused) expect(error).toMatchObject({ code: 'STORE_LOCKED' });
  await there.append(main, [entry({ uuid: 'b' })]);
  expect(await there.load(main)).toEqual([entry({ uuid: 'a' }), entry({ uuid: 'b', n: 1 })]);
});

it('leaves a session free for other processes between appends, and locked during one', async () => {
  const root = newFolder();
  const owner = openFolder(root);
  const here = createSessionStore({ store: owner, taskDir: task });
  const there = createSessionStore({ store: openFolder(root), taskDir: task });
  await here.append(main, [entry({ uuid: 'a' })]);
  await there.append(main, [entry({ uuid: 'b' })]);
  const [{ dispatchId = '' } = {}] = await owner.getDispatchEnvelopes(task);
  const held = await owner.openDispatch(task, dispatchId, { write: true });
  await expect(there.append(main, [entry({ uuid: 'c' })])).rejects.toSatisfy((error) =>
    storeErrors.is(error, 'STORE_LOCKED'),
  );
  await held.release();
  await there.append(main, [entry({ uuid: 'c' })]);
  expect(await here.load(main)).toHaveLength(3);
});

function inMemory() {
  const store = closedAtEnd(openDispatchStore(createMemoryStore()));
  return { store, sessions: createSessionStore({ store, taskDir: task }) };
}

function startWorker(root: string): ChildProcess {
  const file = fileURLToPath(new URL('append-worker.ts', import.meta.url));
  const worker = spawn(process.execPath, ['--conditions=@hansard/source', file, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void worker.kill('SIGKILL'));
  return worker;
}

/** The first numbers that a worker says. */
async function numbersOf(worker: ChildProcess, count: number): Promise<number[]> {
  if (worker.stdout === null) throw new Error('The worker has no output.');
  const numbers: number[] = [];
  for await (const line of createInterface({ input: worker.stdout })) {
    numbers.push(Number(line));
    if (numbers.length === count) break;
  }
  return numbers;
}
