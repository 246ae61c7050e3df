import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openClaimed, openStore, taskDir } from './sample.ts';

/** Replaces a file by a copy, as an editor does that saves it. */
function saveAgain(file: string): void {
  copyFileSync(file, `${file}.new`);
  renameSync(`${file}.new`, file);
}

/** A store that is writing a dispatch of one event. */
function writing() {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvent(taskDir, 'd1', makeEvent(1));
  return { root, store, file: dispatchFile(root, 'd1') };
}

describe('a dispatch whose file another program changes while a store writes it', () => {
  it.each([
    ['saved again', saveAgain],
    ['moved', (file: string) => renameSync(file, `${file}.moved`)],
    ['removed', (file: string) => rmSync(file)],
  ])('refuses writes after its file was %s', (_, touch) => {
    const { store, file } = writing();
    touch(file);
    expect(codeOf(() => store.updateDispatch(taskDir, 'd1', { cost: 1 }))).toBe('STORE_CORRUPT');

    const later = performance.now() + 1_000;
    const now = vi.spyOn(performance, 'now').mockReturnValue(later);
    expect(codeOf(() => store.appendEvent(taskDir, 'd1', makeEvent(2)))).toBe('STORE_CORRUPT');
    expect(codeOf(() => store.appendEvents(taskDir, 'd1', [makeEvent(2)]))).toBe('STORE_CORRUPT');
    now.mockRestore();
  });

  it('can be written by the next store, with the content of the new file', () => {
    const { root, store, file } = writing();
    saveAgain(file);
    expect(codeOf(() => store.updateDispatch(taskDir, 'd1', { cost: 1 }))).toBe('STORE_CORRUPT');
    store.close();
    const next = openClaimed(root);
    next.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(next.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
  });

  it('is reported as replaced when the store closes, if no write has reported it', () => {
    const { root, store, file } = writing();
    saveAgain(file);
    expect(codeOf(() => store.close())).toBe('STORE_CORRUPT');
    expect(openClaimed(root).getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
  });

  it.each(['release', 'close'])(
    'is reported as removed by a %s, if no write has reported it, and only once',
    (end) => {
      const { store, file } = writing();
      rmSync(file);
      const work = () => (end === 'close' ? store.close() : store.releaseDispatch(taskDir, 'd1'));
      expect(codeOf(work)).toBe('STORE_CORRUPT');
      expect(codeOf(() => store.close())).toBe('none');
    },
  );

  it('can be released without an error after its whole task was removed with the claim', () => {
    const { root, store } = writing();
    rmSync(join(root, taskDir), { recursive: true });
    expect(codeOf(() => store.releaseDispatch(taskDir, 'd1'))).toBe('none');
    expect(codeOf(() => store.close())).toBe('none');
  });

  it('is STORE_DISPATCH_NOT_FOUND for a store that deletes it after another store did', () => {
    const root = makeRoot();
    const [store, other] = [openStore(root), openStore(root)];
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    expect(other.getDispatchEvents(taskDir, 'd1')).toEqual([]);
    store.deleteDispatch(taskDir, 'd1');
    expect(codeOf(() => other.deleteDispatch(taskDir, 'd1'))).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('the leases of the writers', () => {
  it('are written again after somebody removed them', () => {
    const { root, store } = writing();
    rmSync(join(root, '.writers'), { recursive: true });
    store.createDispatch(taskDir, makeEnvelope('d2'));
    store.appendEvent(taskDir, 'd2', makeEvent(1));
    expect(codeOf(() => openStore(root).claimDispatch(taskDir, 'd2'))).toBe('STORE_LOCKED');
  });
});
