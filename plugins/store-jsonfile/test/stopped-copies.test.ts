import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import type { DispatchRewrite } from '@hansard/provider';
import { expect, it, vi } from 'vitest';
import { systemFiles } from '../src/files.ts';
import type { StoreSystem } from '../src/store-system.ts';
import { makeEnvelope } from './envelope.ts';
import { startScript } from './processes/start-script.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

const leaseMs = 300;
const notice: CapturedEvent = { ...makeEvent(1, 'notice'), id: '~notice' };
const redaction: DispatchRewrite = {
  envelope: (envelope) => envelope,
  event: (event) => ({ ...event, data: { text: 'redacted' } }),
  notice: () => notice,
};

const works = ['update', 'rewrite'] as const;
const points = ['created', 'written', 'complete'] as const;
const copies = works.flatMap((work) => points.map((point) => [work, point] as const));

/** A process that was stopped while it replaced the file of a dispatch by a copy, and the store that takes the dispatch. */
async function stoppedCopy(work: string, point: string) {
  const root = makeRoot();
  const store = openStore(root, { leaseMs });
  store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
  const writer = startScript('stop-in-copy', [root, taskDir, 'd1', `${leaseMs}`, work, point]);
  expect(await writer.nextLine()).toBe('stopping');
  const file = dispatchFile(root, 'd1');
  return {
    root,
    store,
    file,
    /** Waits until the lease of the writer has expired, and takes the dispatch. */
    async takeOver(take: () => unknown) {
      expect(codeOf(take)).toBe('STORE_LOCKED');
      await vi.waitFor(take, { timeout: 20_000, interval: 20 });
    },
    /** Continues the process, and returns the outcomes of its copy, of an append and of an update. */
    async continued(): Promise<string> {
      writer.child.kill('SIGCONT');
      return writer.nextLine();
    },
    filesOfDispatch: () => readdirSync(dirname(file)).filter((name) => !name.includes('.damaged-')),
  };
}

/** Changes the byte at the beginning of a text, in place. */
function damage(file: string, text: string): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, 'X', readFileSync(file).indexOf(text));
  closeSync(fd);
}

it.each(copies)(
  'a dispatch that was rewritten while another process was stopped in a copy (%s, %s) stays rewritten',
  async (work, point) => {
    const { store, file, takeOver, continued, filesOfDispatch } = await stoppedCopy(work, point);
    await takeOver(() => store.rewriteDispatch(taskDir, 'd1', redaction));
    const before = readFileSync(file);
    const events = store.getDispatchEvents(taskDir, 'd1');
    expect(events.map(({ data }) => data.text)).toEqual(['redacted', 'redacted', 'redacted', 'notice']);
    expect(filesOfDispatch()).toEqual(['d1.json']);
    expect(await continued()).toBe('STORE_LOCKED STORE_LOCKED STORE_LOCKED');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(filesOfDispatch()).toEqual(['d1.json']);
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', { ...makeEvent(2), id: '~own' });
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(5);
  },
);

it.each(copies)(
  'a loss that was accepted while another process was stopped in a copy (%s, %s) stays accepted',
  async (work, point) => {
    const { store, file, takeOver, continued, filesOfDispatch } = await stoppedCopy(work, point);
    damage(file, 'The secret of w2.');
    await takeOver(() => store.acceptLoss(taskDir, 'd1', notice));
    const before = readFileSync(file);
    expect(store.getDispatchEvents(taskDir, 'd1').map(({ id }) => id)).toEqual(['w1', 'w3', '~notice']);
    expect(await continued()).toBe('STORE_LOCKED STORE_LOCKED STORE_LOCKED');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(store.verifyDispatch(taskDir, 'd1').damages).toEqual([]);
    expect(filesOfDispatch()).toEqual(['d1.json']);
  },
);

it.each(copies)(
  'a dispatch that was deleted while another process was stopped in a copy (%s, %s) stays deleted',
  async (work, point) => {
    const { store, file, takeOver, continued, filesOfDispatch } = await stoppedCopy(work, point);
    await takeOver(() => store.deleteDispatch(taskDir, 'd1'));
    expect(filesOfDispatch()).toEqual([]);
    expect(await continued()).toMatch(
      /^STORE_LOCKED (STORE_LOCKED|STORE_DISPATCH_NOT_FOUND) STORE_DISPATCH_NOT_FOUND$/,
    );
    expect(existsSync(file)).toBe(false);
    expect(filesOfDispatch()).toEqual([]);
    expect(store.listDispatches().dispatches).toEqual([]);
  },
);

/** Files that call `work` once, immediately before the system links a lock of a dispatch. */
function beforeTheLock(work: () => void): Partial<StoreSystem> {
  let isDone = false;
  return {
    files: {
      ...systemFiles,
      link(from, to) {
        if (to.includes('d1.lock.') && !isDone) {
          isDone = true;
          work();
        }
        systemFiles.link(from, to);
      },
    },
  };
}

it.each(['rewrite', 'acceptLoss'] as const)(
  'a process that continues while its dispatch is taken by %s loses no event that it acknowledges',
  async (way) => {
    const root = makeRoot();
    openStore(root).createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    const file = dispatchFile(root, 'd1');
    const writer = startScript('append-until-lost', [root, taskDir, 'd1', `${leaseMs}`]);
    expect(await writer.nextLine()).toBe('stopping');
    /** The writer continues, checks its claim, and appends. */
    const continueWriter = () => {
      const { size } = statSync(file);
      const giveUpAt = performance.now() + 20_000;
      writer.child.kill('SIGCONT');
      while (statSync(file).size <= size) expect(performance.now()).toBeLessThan(giveUpAt);
    };
    const store = openStore(root, { leaseMs }, beforeTheLock(continueWriter));
    const take = () =>
      way === 'rewrite'
        ? store.rewriteDispatch(taskDir, 'd1', { ...redaction, event: (event) => event })
        : store.acceptLoss(taskDir, 'd1', notice);
    expect(codeOf(take)).toBe('STORE_LOCKED');
    if (way === 'acceptLoss') damage(file, '"number":2');
    await vi.waitFor(take, { timeout: 20_000, interval: 20 });
    const [acknowledged = '', code] = (await writer.nextLine()).split(' ');
    // On a busy machine the writer can ask too early whether its last event was copied.
    expect(code).toMatch(/^STORE_(LOCKED|UNAVAILABLE)$/);
    const numbers = store.getDispatchEvents(taskDir, 'd1').map(({ data }) => data.number);
    expect(numbers.length - 1 + (way === 'acceptLoss' ? 1 : 0)).toBeGreaterThanOrEqual(Number(acknowledged));
  },
);
