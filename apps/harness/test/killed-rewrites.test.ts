import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { CapturedEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type DurableStore, durableStores, recordedIn } from './durable-stores.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const taskDir = 'a/tasks/one';
const dispatchId = 'D1FIRST';
const kills = 6;
const events = 1_500;

/** Starts rewriting, and kills the process after the first rewrite and a while. @returns the number of the last rewrite that it reported */
async function killed(store: DurableStore, cwd: string, first: number, ms: number): Promise<number> {
  const script = join(import.meta.dirname, 'rewrite-until-killed.ts');
  const args = [store.name, cwd, taskDir, dispatchId, String(first)];
  const child = spawn(process.execPath, ['--conditions=@hansard/source', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let last = -1;
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      last = Number(line);
      resolve();
    });
  });
  await wait(ms);
  child.kill('SIGKILL');
  await once(child, 'close');
  return last;
}

it.each(durableStores)(
  `a dispatch of the $name store is whole after a kill in the middle of a rewrite (HANSARD_SEED=${seed})`,
  async (store) => {
    using line = await recordedIn(store);
    const random = randomFrom(seed);
    const { cwd } = line;
    const prepared = store.open(cwd);
    prepared.claimDispatch(taskDir, dispatchId);
    prepared.appendEvents(
      taskDir,
      dispatchId,
      Array.from({ length: events }, (_, at): CapturedEvent => {
        const id = `event-${String(at).padStart(6, '0')}`;
        return { id, type: 'agent:text', timestamp: '2026-03-01T09:30:00.000Z', data: { text: 'first' } };
      }),
    );
    prepared.close();
    let next = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const reported = await killed(store, cwd, next, random() * 120);
      const opened = store.open(cwd);
      const all = opened.getDispatchEvents(taskDir, dispatchId);
      const notices = all.filter(({ type }) => type === 'system:notice');
      // The rewrite under way happened whole, or not at all.
      expect(notices.length).toBeGreaterThan(reported);
      expect(notices.length).toBeLessThanOrEqual(reported + 2);
      next = notices.length;
      const text = `text-${next - 1}-`;
      const others = all.filter(({ type }) => type !== 'system:notice');
      expect(others.length).toBe(events + 3);
      expect(others.every(({ data }) => String(data.text).startsWith(text))).toBe(true);
      expect(opened.getDispatchEnvelope(taskDir, dispatchId)?.title).toMatch(text);
      expect(opened.verifyDispatch(taskDir, dispatchId).damages).toEqual([]);
      opened.close();
    }
    expect(next).toBeGreaterThanOrEqual(kills);
  },
);

it.each(durableStores)(
  'the $name store has nothing of the old content while it is still open',
  async (store) => {
    using line = await recordedIn(store);
    const earlier = store.open(line.cwd);
    const [other] = earlier.getDispatchEnvelopes(taskDir);
    if (other === undefined) throw new TypeError('nothing was recorded');
    earlier.createDispatch(taskDir, { ...other, dispatchId: 'D9', role: 'opensesame' });
    earlier.close();
    await using opened: DispatchStoreProvider & { readonly [Symbol.asyncDispose]: () => Promise<void> } =
      store.open(line.cwd);
    await opened.searchEvents?.('one', { taskDir });
    const rewritten = await opened.rewriteDispatch?.(taskDir, 'D9', {
      envelope: (envelope) => ({ ...envelope, role: 'closed' }),
      event: (event) => ({ ...event, data: { text: 'closed' } }),
      notice: () => ({
        id: 'notice',
        type: 'system:notice',
        timestamp: '2026-03-01T10:00:00.000Z',
        data: {},
      }),
    });
    expect((await opened.removeRemains?.()) ?? rewritten?.remains).toEqual([]);
    const files = globSync('.projects/**/*', { cwd: line.cwd })
      .map((file) => join(line.cwd, file))
      .filter((file) => statSync(file).isFile());
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => readFileSync(file).includes('opensesame'))).toEqual([]);
  },
);
