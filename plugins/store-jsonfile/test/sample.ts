import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { ManualClock } from '@hansard/testing';
import { onTestFinished } from 'vitest';
import { type JsonFileDispatchStore, type JsonFileStoreOptions, openJsonFileStore } from '../src/index.ts';
import { type StoreSystem, thisSystem } from '../src/store-system.ts';

export const taskDir = 'lab/tasks/maps';

export function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'hansard-jsonfile-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** Opens a store that is closed when the test ends, on this machine with some parts replaced. */
export function openStore(
  root: string,
  options: Omit<JsonFileStoreOptions, 'root'> = {},
  replaced: Partial<StoreSystem> = {},
): JsonFileDispatchStore {
  const store = openJsonFileStore({ root, ...options }, { ...thisSystem, ...replaced });
  onTestFinished(() => store.close());
  return store;
}

/** A clock that a test advances, as the parts of a system. A pause of the process advances it, too. */
export function manualTime(): { readonly clock: ManualClock; readonly pause: (ms: number) => void } {
  const clock = new ManualClock();
  return { clock, pause: (ms) => clock.advance(ms) };
}

/** Opens a store that has claimed a dispatch. */
export function openClaimed(root: string, dispatchId = 'd1'): JsonFileDispatchStore {
  const store = openStore(root);
  store.claimDispatch(taskDir, dispatchId);
  return store;
}

/** An event whose id grows with `number`. */
export function makeEvent(number: number, text = `This is event ${number}.`): CapturedEvent {
  return {
    id: `e${String(number).padStart(8, '0')}`,
    type: 'agent:text',
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text },
  };
}

export function makeEvents(from: number, count: number): CapturedEvent[] {
  return Array.from({ length: count }, (_, index) => makeEvent(from + index));
}

export function dispatchFile(root: string, dispatchId: string): string {
  return join(root, taskDir, 'dispatches', `${dispatchId}.json`);
}

/** A dispatch file as another program reads it: the head with its events, whose checksums are removed. */
export function readDocument(file: string): { events: unknown[] } & Record<string, unknown> {
  const { events, ...head } = JSON.parse(readFileSync(file, 'utf8'));
  return { ...head, events: events.map(({ crc: _, ...event }: Record<string, unknown>) => event) };
}

/** The code of the error that `work` throws; `none` if it throws nothing. */
export function codeOf(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
