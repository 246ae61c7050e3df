import { writeSync } from 'node:fs';
import type { CapturedEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { systemFiles } from '../../src/files.ts';
import { openJsonFileStore } from '../../src/index.ts';
import { thisSystem } from '../../src/store-system.ts';

/**
 * Claims a dispatch, appends events, and begins to replace its file by a copy. Prints `stopping` and stops itself with SIGSTOP at one
 * point of that copy. When it is continued, it prints the outcomes of that work, of an append and of an update, and waits.
 * Arguments: root, task, dispatch, lease, work (`update`, `rewrite`), point (`created`, `written`, `complete`).
 */
const [, , root = '', taskDir = '', dispatchId = '', leaseMs = '', work = '', point = ''] = process.argv;
let copy: number | null = null;
let hasStopped = false;

function stopAt(reached: string): void {
  if (reached !== point || copy === null || hasStopped) return;
  hasStopped = true;
  writeSync(1, 'stopping\n');
  process.kill(process.pid, 'SIGSTOP');
}

const files: typeof systemFiles = {
  ...systemFiles,
  open(path, flags) {
    const fd = systemFiles.open(path, flags);
    if (path.includes(`/.${dispatchId}.`)) copy = fd;
    stopAt('created');
    return fd;
  },
  write(fd, ...rest) {
    const count = systemFiles.write(fd, ...rest);
    if (fd === copy) stopAt('written');
    return count;
  },
  rename(from, to) {
    if (to.endsWith(`/${dispatchId}.json`)) stopAt('complete');
    systemFiles.rename(from, to);
  },
};

function outcomeOf(call: () => unknown): string {
  try {
    call();
    return 'done';
  } catch (error) {
    return storeErrors.is(error) ? error.code : String(error);
  }
}

const event = (id: string): CapturedEvent => ({
  id,
  type: 'agent:text',
  timestamp: '2026-03-01T09:30:00.000Z',
  data: { text: `The secret of ${id}.` },
});

const store = openJsonFileStore({ root, leaseMs: Number(leaseMs) }, { ...thisSystem, files });
store.claimDispatch(taskDir, dispatchId);
store.appendEvents(taskDir, dispatchId, [event('w1'), event('w2'), event('w3')]);
const works: Readonly<Record<string, () => unknown>> = {
  update: () => store.updateDispatch(taskDir, dispatchId, { structuredResult: 'x'.repeat(10_000) }),
  rewrite: () =>
    store.rewriteDispatch(taskDir, dispatchId, {
      envelope: (envelope) => envelope,
      event: (stored) => stored,
      notice: () => event('w4'),
    }),
};
const outcomes = [
  outcomeOf(() => works[work]?.()),
  outcomeOf(() => store.appendEvent(taskDir, dispatchId, event('w5'))),
  outcomeOf(() => store.updateDispatch(taskDir, dispatchId, { cost: -1 })),
];
writeSync(1, `${outcomes.join(' ')}\n`);
process.stdin.resume();
