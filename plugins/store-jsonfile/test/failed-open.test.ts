import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentProcess } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { type Files, systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

/** The end of the names that the system refuses to open, after it has opened some of them. */
const refused = { suffix: '', after: 0, code: '' };

const files: Files = {
  ...systemFiles,
  open(path, flags) {
    if (refused.suffix !== '' && path.endsWith(refused.suffix)) {
      refused.after -= 1;
      const { after, code } = refused;
      if (after < 0)
        throw Object.assign(new Error(`${code}: open '${path}'`), { code, syscall: 'open', path });
    }
    return systemFiles.open(path, flags);
  },
};
const openRefused = (root: string) => openStore(root, {}, { files });

/** Runs work while files with this end of their names cannot be opened, except for the first `after` times. */
function refusing<T>(suffix: string, code: string, work: () => T, after = 0): T {
  Object.assign(refused, { suffix, code, after });
  try {
    return work();
  } finally {
    refused.suffix = '';
  }
}

const task = {
  slug: 'maps',
  name: 'Maps',
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:30:00.000Z',
};

describe.each(['EMFILE', 'EIO'])(
  'a store whose lock could not be opened while it was released (%s)',
  (code) => {
    it('still ends the dispatch, and writes late events to it when files can be opened again', () => {
      const root = makeRoot();
      const [store, other] = [openRefused(root), openRefused(root)];
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      store.updateDispatch(taskDir, 'd1', { status: 'completed' });
      const released = refusing('.lock', code, () => codeOf(() => store.releaseDispatch(taskDir, 'd1')));
      expect(released).toBe('none');
      expect(codeOf(() => other.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', makeEvent(2));
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
    });

    it.each<[string, (store: ReturnType<typeof openStore>) => void]>([
      ['with the next lock that it takes', (store) => store.createDispatch(taskDir, makeEnvelope('d2'))],
      ['when it closes', (store) => store.close()],
    ])('lets other stores write %s', (_, next) => {
      const root = makeRoot();
      const [store, other] = [openRefused(root), openRefused(root)];
      store.createDispatch(taskDir, makeEnvelope('d1'));
      refusing('.lock', code, () => codeOf(() => store.releaseDispatch(taskDir, 'd1')));
      next(store);
      other.claimDispatch(taskDir, 'd1');
      other.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(other.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
    });

    it('writes the record of the task again at once', () => {
      const store = openRefused(makeRoot());
      store.putTask(taskDir, task);
      refusing('.task.lock', code, () => codeOf(() => store.putTask(taskDir, task)), 1);
      const started = performance.now();
      store.putTask(taskDir, { ...task, status: 'done' });
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(store.getTask(taskDir)).toEqual({ ...task, status: 'done' });
    });
  },
);

it('a takeover that the system refused in the middle does not prevent later claims', () => {
  const root = makeRoot();
  const [store, other] = [openRefused(root), openRefused(root)];
  store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
  const lock = dispatchFile(root, 'd1').replace(/json$/, 'lock');
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(lock, JSON.stringify({ ...currentProcess(), pid, startTime: '1', token: 'gone' }));
  const claim = () => store.claimDispatch(taskDir, 'd1');
  expect(refusing('.lock', 'EMFILE', () => codeOf(claim), 1)).toBe('STORE_UNAVAILABLE');
  expect(existsSync(`${lock}.gone`)).toBe(false);
  other.claimDispatch(taskDir, 'd1');
  other.appendEvent(taskDir, 'd1', makeEvent(1));
  other.close();
  claim();
  store.appendEvent(taskDir, 'd1', makeEvent(1));
  store.close();
  expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
});
