import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openClaimed, openStore, taskDir } from './sample.ts';

/** Puts a copy in the place of a file, as an editor does that saves it. */
function saveAnew(file: string): void {
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

describe('a dispatch that another program touches while it is written', () => {
  it.each([
    ['saved anew', saveAnew, 'STORE_CORRUPT'],
    ['removed', (file: string) => rmSync(file), 'STORE_DISPATCH_NOT_FOUND'],
  ])('is not written into nowhere where its file was %s', (_, touch, code) => {
    const { store, file } = writing();
    touch(file);
    expect(codeOf(() => store.updateDispatch(taskDir, 'd1', { cost: 1 }))).toBe(code);

    const later = performance.now() + 1_000;
    const now = vi.spyOn(performance, 'now').mockReturnValue(later);
    expect(codeOf(() => store.appendEvent(taskDir, 'd1', makeEvent(2)))).toBe(code);
    expect(codeOf(() => store.appendEvents(taskDir, 'd1', [makeEvent(2)]))).toBe(code);
    now.mockRestore();
  });

  it('can be written by the next store with what is in its place', () => {
    const { root, store, file } = writing();
    saveAnew(file);
    expect(codeOf(() => store.updateDispatch(taskDir, 'd1', { cost: 1 }))).toBe('STORE_CORRUPT');
    store.close();
    const next = openClaimed(root);
    next.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(next.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
  });

  it('is reported as saved anew when the store closes, where no write reported it', () => {
    const { root, store, file } = writing();
    saveAnew(file);
    expect(codeOf(() => store.close())).toBe('STORE_CORRUPT');
    expect(openClaimed(root).getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
  });

  it('is not missed by a store that releases it, where its file was removed', () => {
    const { store, file } = writing();
    rmSync(file);
    expect(codeOf(() => store.releaseDispatch(taskDir, 'd1'))).toBe('none');
    expect(codeOf(() => store.close())).toBe('none');
  });

  it('is not there for who deletes it after somebody else did', () => {
    const root = makeRoot();
    const [store, other] = [openStore(root), openStore(root)];
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    expect(other.getDispatchEvents(taskDir, 'd1')).toEqual([]);
    store.deleteDispatch(taskDir, 'd1');
    expect(codeOf(() => other.deleteDispatch(taskDir, 'd1'))).toBe('STORE_DISPATCH_NOT_FOUND');
  });
});

describe('the names of the writers', () => {
  it('are left again where somebody cleared them away', () => {
    const { root, store } = writing();
    rmSync(join(root, '.writers'), { recursive: true });
    store.createDispatch(taskDir, makeEnvelope('d2'));
    store.appendEvent(taskDir, 'd2', makeEvent(1));
    expect(codeOf(() => openStore(root).claimDispatch(taskDir, 'd2'))).toBe('STORE_LOCKED');
  });
});
