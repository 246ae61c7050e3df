import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStoreOn } from '../../src/sqlite-store.ts';
import { ManualClock } from '../manual-clock.ts';
import { codeOf, openStore, temporaryPath } from '../temporary-store.ts';
import { checkCut, frameLength, latest, placeOfFrame, running, writeKilledStore } from './cut-log.ts';
import { randomFrom } from './damage-rows.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** What the file of lengths says about the dispatch with a number. */
function lengthIn(path: string, number = 1): number {
  return readFileSync(`${path}-lengths`).readUIntLE(64 + (number - 1) * 64 + 10, 6);
}

/** The files of a killed store, removed when the test ends. */
const killedStore = () => writeKilledStore(dirname(temporaryPath()));

describe('the log of a killed store', () => {
  it(`cut at every frame and inside of it is refused, or has every acknowledged event (seed ${seed})`, () => {
    const killed = killedStore();
    const whole = readFileSync(`${killed}-wal`);
    const random = randomFrom(seed);
    const frames = Math.floor((whole.length - 32) / frameLength);
    expect(frames).toBeGreaterThan(50);
    const outcomes = new Map<string | number, number>();
    const path = temporaryPath();
    const tryCut = (bytes: number) => {
      for (const outcome of checkCut(killed, path, bytes))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    };
    const last = frames - 30;
    for (
      let frame = 0;
      frame <= frames;
      frame += frame < last && frame > 30 ? 1 + Math.floor(random() * 12) : 1
    ) {
      tryCut(placeOfFrame(frame));
      tryCut(placeOfFrame(frame) + Math.floor(random() * frameLength));
    }
    tryCut(0);
    expect(outcomes.get('STORE_CORRUPT')).toBeGreaterThan(40);
    expect(outcomes.get(running.length + latest.length)).toBeGreaterThan(0);
  });

  it('is refused when it was removed, and the dispatches can be deleted then', () => {
    const path = killedStore();
    rmSync(`${path}-wal`);
    const store = openStore(path);
    for (const dispatchId of ['RELEASED', 'RUNNING']) {
      expect(codeOf(() => store.getDispatchEnvelope(taskDir, dispatchId))).toBe('STORE_CORRUPT');
      expect(codeOf(() => store.claimDispatch(taskDir, dispatchId))).toBe('STORE_CORRUPT');
    }
    expect(
      store.listDispatches({ taskDir }).dispatches.map(({ dispatchId, error }) => [dispatchId, error?.code]),
    ).toEqual([
      ['RELEASED', 'STORE_CORRUPT'],
      ['RUNNING', 'STORE_CORRUPT'],
    ]);
    store.createDispatch(taskDir, envelope({ dispatchId: 'NEW' }));
    expect(codeOf(() => store.getDispatchEnvelopes(taskDir))).toBe('STORE_CORRUPT');
    for (const dispatchId of ['RELEASED', 'RUNNING']) store.deleteDispatch(taskDir, dispatchId);
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([envelope({ dispatchId: 'NEW' })]);
  });

  it('whose events were lost has them counted, and is usable again once the loss is accepted', () => {
    const killed = killedStore();
    const path = temporaryPath();
    for (const suffix of ['', '-lengths']) copyFileSync(`${killed}${suffix}`, `${path}${suffix}`);
    const wal = readFileSync(`${killed}-wal`);
    for (let frame = Math.floor(wal.length / frameLength); frame > 0; frame -= 1) {
      rmSync(`${path}-shm`, { force: true });
      writeFileSync(`${path}-wal`, wal.subarray(0, placeOfFrame(frame)));
      const store = openStore(path);
      const code = codeOf(() => store.getDispatchEvents(taskDir, 'RUNNING'));
      store.close();
      if (code === 'STORE_CORRUPT') break;
    }
    const store = openStore(path);
    const { wholeEvents, damages } = store.verifyDispatch(taskDir, 'RUNNING');
    expect(damages).toMatchObject([{ offset: wholeEvents, lostEvents: lengthIn(path, 2) - wholeEvents }]);
    const notice = { ...growingEvents(1, 999)[0], type: 'system:notice' } as never;
    // The owner was killed, but in this test it is still this process.
    store.breakClaim(taskDir, 'RUNNING');
    store.acceptLoss(taskDir, 'RUNNING', notice);
    expect(store.getDispatchEvents(taskDir, 'RUNNING')).toEqual([
      ...[...running, ...latest].slice(0, wholeEvents),
      notice,
    ]);
    store.close();
    expect(openStore(path).verifyDispatch(taskDir, 'RUNNING').damages).toEqual([]);
  });
});

describe('the file of acknowledged lengths', () => {
  it('is at most 256 events or a second behind, and exact after a release', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    const store = openStoreOn({ path }, { clock });
    onTestFinished(() => store.close());
    store.createDispatch(taskDir, envelope({ dispatchId: 'D' }));
    for (const [index, event] of growingEvents(1_000).entries()) {
      store.appendEvent(taskDir, 'D', event);
      expect(index + 1 - lengthIn(path)).toBeLessThanOrEqual(256);
    }
    clock.advance(1_000);
    expect(lengthIn(path)).toBe(1_000);
    store.appendEvents(taskDir, 'D', growingEvents(3, 1_000));
    store.releaseDispatch(taskDir, 'D');
    expect(lengthIn(path)).toBe(1_003);
    // The heartbeat ends at its next beat.
    clock.advance(5_000);
    expect(clock.pending).toBe(0);
  });

  it('keeps long ids with the same beginning apart', () => {
    const store = openStore(temporaryPath());
    const [first, second, third] = ['a', 'b', 'c'].map((end) => `${'x'.repeat(60)}-${end}`) as [
      string,
      string,
      string,
    ];
    for (const id of [first, second]) {
      store.createDispatch(taskDir, envelope({ dispatchId: id }));
      store.appendEvents(taskDir, id, growingEvents(3));
      store.releaseDispatch(taskDir, id);
    }
    expect(store.getDispatchEnvelope(taskDir, third)).toBeNull();
    store.deleteDispatch(taskDir, first);
    expect(store.getDispatchEnvelope(taskDir, first)).toBeNull();
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([envelope({ dispatchId: second })]);
  });

  it('that is missing, damaged or of another database is written again by the next claim, and prevents no read', () => {
    const path = temporaryPath();
    const write = (first: number) => {
      const store = openStore(path);
      if (first === 0) store.createDispatch(taskDir, envelope({ dispatchId: 'D' }));
      else store.claimDispatch(taskDir, 'D');
      store.appendEvents(taskDir, 'D', growingEvents(3, first));
      store.close();
    };
    write(0);
    const file = `${path}-lengths`;
    for (const [index, damage] of [
      () => rmSync(file),
      () => writeFileSync(file, 'of another program'),
      () => writeFileSync(file, readFileSync(file).fill(0, 64)),
    ].entries()) {
      damage();
      expect(openStore(path).getDispatchEvents(taskDir, 'D')).toHaveLength(3 * (index + 1));
      write(3 * (index + 1));
      expect(lengthIn(path)).toBe(3 * (index + 2));
    }
    expect(existsSync(`${file}.new`)).toBe(false);
  });
});
