import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { expect } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { openStoreOn } from '../../src/sqlite-store.ts';
import { ManualClock } from '../manual-clock.ts';
import { codeOf } from '../temporary-store.ts';

export const frameLength = 24 + 4096;
/** The log of a database begins with 32 bytes. */
export const placeOfFrame = (frame: number) => 32 + frame * frameLength;

const released = growingEvents(40);
export const running = growingEvents(600);
/** Events of the last second, fewer than 256, which the file of lengths need not count. */
export const latest = growingEvents(20, 600);

/** Writes the files of a store that was killed while it had two dispatches, a released one and one that it was writing. @returns their path */
export function writeKilledStore(folder: string): string {
  const path = join(folder, 'written.sqlite');
  const clock = new ManualClock();
  const store = openStoreOn({ path }, { clock });
  store.createDispatch(taskDir, envelope({ dispatchId: 'RELEASED' }));
  for (const event of released) store.appendEvent(taskDir, 'RELEASED', event);
  store.updateDispatch(taskDir, 'RELEASED', { status: 'completed' });
  store.releaseDispatch(taskDir, 'RELEASED');
  store.createDispatch(taskDir, envelope({ dispatchId: 'RUNNING' }));
  for (let first = 0; first < running.length; first += 40)
    store.appendEvents(taskDir, 'RUNNING', running.slice(first, first + 40));
  clock.advance(1_000);
  for (const event of latest) store.appendEvent(taskDir, 'RUNNING', event);
  const killed = join(folder, 'killed.sqlite');
  for (const suffix of ['', '-wal', '-lengths']) copyFileSync(`${path}${suffix}`, `${killed}${suffix}`);
  store.close();
  return killed;
}

/** Copies the files with the log cut at a byte, and reads both dispatches: STORE_CORRUPT, or every acknowledged event. @returns both outcomes */
export function checkCut(killed: string, path: string, bytes: number): readonly (number | string)[] {
  rmSync(`${path}-shm`, { force: true });
  for (const suffix of ['', '-lengths']) copyFileSync(`${killed}${suffix}`, `${path}${suffix}`);
  writeFileSync(`${path}-wal`, readFileSync(`${killed}-wal`).subarray(0, bytes));
  const ofReleased = lengthOf(path, 'RELEASED', released);
  expect(['STORE_CORRUPT', released.length], `cut at ${bytes}`).toContain(ofReleased);
  const ofRunning = lengthOf(path, 'RUNNING', [...running, ...latest]);
  if (ofRunning !== 'STORE_CORRUPT')
    expect(ofRunning, `cut at ${bytes}`).toBeGreaterThanOrEqual(running.length);
  return [ofReleased, ofRunning];
}

/** The number of events that a reader gets, or the code of the error. */
function lengthOf(path: string, dispatchId: string, expected: readonly unknown[]): number | string {
  const store = openSqliteStore({ path });
  try {
    let length = 0;
    const code = codeOf(() => {
      const events = store.getDispatchEvents(taskDir, dispatchId);
      expect(events).toEqual(expected.slice(0, events.length));
      length = events.length;
    });
    const listed = codeOf(() => store.getDispatchEnvelopes(taskDir));
    const named = codeOf(
      () => store.getDispatchEnvelope(taskDir, dispatchId) ?? expect.unreachable('no envelope'),
    );
    if (code === 'STORE_CORRUPT' && named === 'STORE_CORRUPT') expect(listed).toBe('STORE_CORRUPT');
    return code === 'none' ? length : code;
  } finally {
    store.close();
  }
}
