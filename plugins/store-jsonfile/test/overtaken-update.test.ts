import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Files } from '../src/files.ts';
import { thisSystem } from '../src/store-system.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

/** The files of a process that is stopped before its call with this number, while `work` runs. */
function stoppedAt(at: () => number, work: () => void): { files: Files; calls: () => number } {
  let calls = 0;
  const { files } = thisSystem;
  const stopping = new Proxy(files, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        calls += 1;
        if (calls === at()) work();
        return member.apply(target, args);
      };
    },
  });
  return { files: stopping, calls: () => calls };
}

/** How another opening ends the claim of the stopped one. */
const overtaking = {
  'takes it over': (root: string) => {
    const next = openStore(root);
    next.breakClaim(taskDir, 'd1');
    next.claimDispatch(taskDir, 'd1');
  },
  'takes it over and releases it': (root: string) => {
    const next = openStore(root);
    next.breakClaim(taskDir, 'd1');
    next.claimDispatch(taskDir, 'd1');
    next.releaseDispatch(taskDir, 'd1');
  },
  'breaks its claim': (root: string) => openStore(root).breakClaim(taskDir, 'd1'),
  'deletes it': (root: string) => {
    const next = openStore(root);
    next.breakClaim(taskDir, 'd1');
    next.deleteDispatch(taskDir, 'd1');
  },
};

const durabilities = ['process', 'disk'] as const;

it.each(
  durabilities.flatMap((durability) =>
    Object.entries(overtaking).flatMap(([how, work]) =>
      ['with a larger head', 'in place'].map((kind) => [kind, durability, how, work] as const),
    ),
  ),
)(
  'an update %s (%s), stopped at any call while another opening %s, is done or STORE_LOCKED',
  (kind, durability, _, work) => {
    const title = kind === 'in place' ? 'A title' : 'x'.repeat(5_000);
    const codes = new Set<string>();
    for (let at = 1; ; at += 1) {
      const root = makeRoot();
      let begun = Number.POSITIVE_INFINITY;
      const { files, calls } = stoppedAt(
        () => begun + at,
        () => work(root),
      );
      const store = openStore(root, { durability }, { files });
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      begun = calls();
      codes.add(codeOf(() => store.updateDispatch(taskDir, 'd1', { title })));
      const wasStopped = calls() >= begun + at;
      store.close();
      if (!wasStopped) break;
    }
    expect([...codes]).toEqual(['STORE_LOCKED', 'none']);
  },
);

it('a deletion, stopped at any call while another opening takes the dispatch over and appends, removes nothing of that opening', () => {
  const codes = new Set<string>();
  for (let at = 1; ; at += 1) {
    const root = makeRoot();
    const next = openStore(root);
    let begun = Number.POSITIVE_INFINITY;
    let taken = '';
    const { files, calls } = stoppedAt(
      () => begun + at,
      () => {
        taken = codeOf(() => {
          next.breakClaim(taskDir, 'd1');
          next.claimDispatch(taskDir, 'd1');
          next.appendEvent(taskDir, 'd1', makeEvent(2));
        });
      },
    );
    const store = openStore(root, {}, { files });
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    begun = calls();
    const deleted = codeOf(() => store.deleteDispatch(taskDir, 'd1'));
    const wasStopped = calls() >= begun + at;
    codes.add(`${taken}, ${deleted}`);
    if (taken === 'none') {
      const read = openStore(root).getDispatchEvents(taskDir, 'd1');
      expect(read, `stopped at call ${at}`).toHaveLength(2);
      expect(codeOf(() => next.updateDispatch(taskDir, 'd1', { title: 'Kept' }))).toBe('none');
    } else expect(existsSync(dispatchFile(root, 'd1'))).toBe(false);
    next.close();
    store.close();
    expect(openStore(root).findRemains()).toEqual([]);
    if (!wasStopped) break;
  }
  expect([...codes].sort()).toEqual([', none', 'STORE_DISPATCH_NOT_FOUND, none', 'none, STORE_LOCKED']);
});
