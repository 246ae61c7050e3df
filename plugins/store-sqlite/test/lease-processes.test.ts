import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { dispatchId, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStoreOn } from '../src/sqlite-store.ts';
import { ManualClock } from './manual-clock.ts';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const leaseMs = 15_000;

interface Script {
  readonly child: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;
  readonly errors: Promise<string>;
}

/** Starts a script of `processes/`, which is killed when the test ends. */
function start(name: string, ...args: readonly string[]): Script {
  const script = join(import.meta.dirname, 'processes', `${name}.ts`);
  const child = spawn(process.execPath, ['--conditions=@hansard/source', script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    errors: text(child.stderr),
  };
}

/** A process that appends an event each time it is asked. */
function startWriter(path: string): Script & { append(): Promise<string> } {
  const script = start('append-on-request', path, dispatchId);
  return {
    ...script,
    async append() {
      script.child.stdin?.write('next\n');
      return (await script.lines.next()).value;
    },
  };
}

describe.skipIf(process.platform === 'win32')('a writer that is stopped', () => {
  it('for longer than its lease loses its dispatch, and is refused when it continues', async () => {
    const path = temporaryPath();
    const writer = startWriter(path);
    for (const { id } of growingEvents(5)) expect(await writer.append()).toBe(id);
    writer.child.kill('SIGSTOP');
    const clock = new ManualClock();
    const taker = openStoreOn({ path, leaseMs }, { clock });
    onTestFinished(() => taker.close());
    const claim = () => taker.claimDispatch(taskDir, dispatchId);
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    expect(taker.findClaim(taskDir, dispatchId)).toMatchObject({ state: 'running', expiresInMs: null });
    clock.advance(leaseMs);
    expect(claim()).toMatchObject({ epoch: 2 });
    const refused = writer.append();
    writer.child.kill('SIGCONT');
    // No event was appended since, so only the claim can refuse it.
    expect(await refused).toMatch(
      new RegExp(`^STORE_LOCKED .*process ${process.pid} on .*hansard store unlock`),
    );
    taker.appendEvent(taskDir, dispatchId, textEvent('f'));
    taker.releaseDispatch(taskDir, dispatchId);
    expect(await writer.append()).toMatch(/^STORE_LOCKED/);
    const ended = once(writer.child, 'close');
    writer.child.stdin?.end();
    expect(await ended).toEqual([0, null]);
    expect(taker.getDispatchEvents(taskDir, dispatchId)).toEqual([...growingEvents(5), textEvent('f')]);
    expect(taker.verifyDispatch(taskDir, dispatchId).damages).toEqual([]);
  });

  it('keeps its dispatch if it continues before anyone took it', async () => {
    const path = temporaryPath();
    const writer = startWriter(path);
    for (const { id } of growingEvents(5)) expect(await writer.append()).toBe(id);
    writer.child.kill('SIGSTOP');
    const other = openStore(path);
    expect(codeOf(() => other.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
    const next = writer.append();
    writer.child.kill('SIGCONT');
    expect(await next).toBe('e000005');
    expect(other.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(6));
  });
});

describe('a dispatch whose owner has exited', () => {
  it('is taken by exactly one of the processes that try at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = temporaryPath();
      storeWithDispatch(path).close();
      const dead = start('append-until-stopped', path, '1000000', dispatchId);
      await dead.lines.next();
      const exited = once(dead.child, 'close');
      dead.child.kill('SIGKILL');
      await exited;
      const takers = Array.from({ length: 4 }, () => start('take-over', path, dispatchId));
      for (const { lines } of takers) expect((await lines.next()).value).toBe('ready');
      for (const { child } of takers) child.stdin?.write('go\n');
      const outcomes = await Promise.all(
        takers.map(async ({ lines }) => (await lines.next()).value as string),
      );
      expect(outcomes.sort()).toEqual(['STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED', 'taken']);
      const store = openStore(path);
      const events = store.getDispatchEvents(taskDir, dispatchId);
      expect(events.slice(0, -1)).toEqual(growingEvents(events.length - 1));
      const taken = takers.find(({ child }) => events.at(-1)?.id === `z${child.pid}`);
      expect(store.findClaim(taskDir, dispatchId)?.owner).toContain(`process ${taken?.child.pid} on`);
      for (const { child } of takers) child.stdin?.end();
    }
  });
});

describe('a claim that a user breaks', () => {
  it('stops the writer that had it', async () => {
    const path = temporaryPath();
    const writer = start('append-until-stopped', path, '1000000', dispatchId);
    for (let count = 0; count < 50; count += 1) await writer.lines.next();
    const store = openStore(path);
    const ended = once(writer.child, 'close');
    store.breakClaim(taskDir, dispatchId);
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, textEvent('f'));
    for await (const _ of writer.lines);
    await ended;
    expect(await writer.errors).toContain('STORE_LOCKED');
    const events = store.getDispatchEvents(taskDir, dispatchId);
    expect(events).toEqual([...growingEvents(events.length - 1), textEvent('f')]);
  });
});
