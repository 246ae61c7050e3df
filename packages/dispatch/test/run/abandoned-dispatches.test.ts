import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const taskDir = 'lab/tasks/route-models';

/** A folder with the dispatch `D1`, which is running and was released. */
async function releasedWhileRunning() {
  const root = mkdtempSync(join(tmpdir(), 'hansard-abandoned-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const first = openDispatchStore(openJsonFileStore({ root }));
  const begun = await first.beginDispatch(taskDir, { role: 'worker', dispatchId: 'D1' });
  const [token = ''] = readdirSync(join(root, '.writers'));
  const heartbeat = JSON.parse(readFileSync(join(root, '.writers', token), 'utf8'));
  await begun.release();
  await first.close();
  const store = openDispatchStore(openJsonFileStore({ root }));
  onTestFinished(() => store.close());
  /** Leaves the claim of another process. */
  const leaveClaim = (owner: { readonly pid: number; readonly host?: string }) => {
    const lock = { ...heartbeat, startTime: null, leaseMs: 200, token: 'other', ...owner };
    writeFileSync(join(root, taskDir, 'dispatches/D1.lock.2'), JSON.stringify(lock));
  };
  const close = async () => {
    const closed = await closeAbandonedDispatches(store, taskDir);
    return closed.map(({ dispatchId, status }) => `${dispatchId} ${status}`);
  };
  const events = () => store.getDispatchEvents(taskDir, 'D1');
  return { store, leaveClaim, close, events };
}

const exited = () => spawnSync(process.execPath, ['-e', '']).pid;

describe('a start-up that finds a running dispatch', () => {
  it('leaves it alone if it was released: nobody abandoned it', async () => {
    const { store, close, events } = await releasedWhileRunning();
    expect(await close()).toEqual([]);
    expect(await store.getDispatchEnvelope(taskDir, 'D1')).toMatchObject({ status: 'running' });
    expect(await events()).toEqual([]);
  });

  it('ends it if the owner of its claim has exited', async () => {
    const { leaveClaim, close, events } = await releasedWhileRunning();
    leaveClaim({ pid: exited() });
    expect(await close()).toEqual(['D1 crashed']);
    expect(await events()).toMatchObject([{ type: 'harness:error' }]);
    expect(await close()).toEqual([]);
  });

  it('leaves it alone while the owner of its claim is running, and while it cannot be checked', async () => {
    for (const owner of [{ pid: process.ppid }, { pid: exited(), host: 'elsewhere' }]) {
      const { leaveClaim, close, events } = await releasedWhileRunning();
      leaveClaim({ ...owner });
      expect(await close()).toEqual([]);
      expect(await events()).toEqual([]);
    }
  });

  it('ends it if its claim was not renewed for a lease, by a process on another host', async () => {
    const { leaveClaim, close } = await releasedWhileRunning();
    leaveClaim({ pid: exited(), host: 'elsewhere' });
    expect(await close()).toEqual([]);
    await vi.waitFor(async () => expect(await close()).toEqual(['D1 crashed']), {
      timeout: 20_000,
      interval: 20,
    });
  });
});
