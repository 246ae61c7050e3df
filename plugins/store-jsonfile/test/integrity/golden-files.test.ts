import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from '../envelope.ts';
import { dispatchFile, makeRoot, openStore, readDocument, taskDir } from '../sample.ts';
import { readByOracle } from './oracle.ts';

const orders = { ended: [1, 2, 3, 4, 5], running: [2, 1, 3, 5, 4] };
type Name = keyof typeof orders;

/** What the files of both formats contain; they were written by the versions that had these formats. */
function contentOf(name: Name) {
  const events = orders[name].map((number) => ({
    id: `e${String(number).padStart(8, '0')}`,
    type: 'agent:text' as const,
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text: `This is event ${number}: ü“\u0000\ud800 "crc":"00000000"` },
  }));
  const ended = { status: 'completed', completedAt: '2026-03-01T09:31:00.000Z', cost: 0.25 } as const;
  const envelope = makeEnvelope(name, { title: 'Grüße', ...(name === 'ended' ? ended : {}) });
  return { events, envelope };
}

function goldenFile(format: number, name: Name): string {
  return join(import.meta.dirname, `../fixtures/format-${format}-${name}.json`);
}

/** A store with the file of a format. */
function withGolden(format: number, name: Name) {
  const root = makeRoot();
  const file = dispatchFile(root, name);
  mkdirSync(dirname(file), { recursive: true });
  cpSync(goldenFile(format, name), file);
  return { root, file, store: openStore(root) };
}

const late: CapturedEvent = {
  id: 'z1',
  type: 'agent:text',
  timestamp: '2026-03-02T09:30:00.000Z',
  data: { text: 'late' },
};

describe.each([1, 2])('a file that was written in format %i', (format) => {
  it.each(['ended', 'running'] as const)('reads as it was written (%s), and is not changed', (name) => {
    const { file, store } = withGolden(format, name);
    const { events, envelope } = contentOf(name);
    expect(store.getDispatchEvents(taskDir, name)).toEqual(events);
    expect(store.getDispatchEnvelope(taskDir, name)).toEqual(envelope);
    expect(store.readEvents(taskDir, name, { last: 2 })).toEqual({
      events: events.slice(3),
      first: 3,
      next: 4,
    });
    expect(store.verifyDispatch(taskDir, name)).toEqual({
      integrity: format === 1 ? 'none' : 'checksum',
      wholeEvents: 5,
      bytes: readFileSync(file).length,
      damages: [],
    });
    expect(readFileSync(file).equals(readFileSync(goldenFile(format, name)))).toBe(true);
  });

  it.each(['ended', 'running'] as const)('can be written (%s), and then has format 2', (name) => {
    const { root, file, store } = withGolden(format, name);
    const { events, envelope } = contentOf(name);
    const claim = store.claimDispatch(taskDir, name);
    expect(claim).toEqual({ envelope, epoch: format });
    store.appendEvents(taskDir, name, [events[0] ?? late, late]);
    store.close();
    expect(readDocument(file).format).toBe(2);
    expect(readByOracle(readFileSync(file))).toEqual({ events: [...events, late] });
    const next = openStore(root);
    expect(next.getDispatchEvents(taskDir, name)).toEqual([...events, late]);
    expect(next.verifyDispatch(taskDir, name)).toMatchObject({ integrity: 'checksum', wholeEvents: 6 });
    expect(next.claimDispatch(taskDir, name).epoch).toBe(format + 1);
  });
});

describe('a file of format 2', () => {
  it('is written with the same bytes by this version', () => {
    const root = makeRoot();
    const store = openStore(root);
    const { events, envelope } = contentOf('running');
    store.createDispatch(taskDir, envelope);
    store.appendEvent(taskDir, 'running', events[0] ?? late);
    store.appendEvents(taskDir, 'running', events.slice(1, 4));
    store.appendEvent(taskDir, 'running', events[4] ?? late);
    const bytes = readFileSync(dispatchFile(root, 'running'));
    expect(bytes.toString()).toBe(readFileSync(goldenFile(2, 'running'), 'utf8'));
  });
});

describe('a file of a newer format', () => {
  it('is refused with the number of the format', () => {
    const { file, store } = withGolden(2, 'ended');
    const text = readFileSync(file, 'utf8').replaceAll('"format":2', '"format":3');
    writeFileSync(file, text);
    expect(() => store.getDispatchEnvelope(taskDir, 'ended')).toThrow(/has format 3, and this version/);
    expect(() => store.claimDispatch(taskDir, 'ended')).toThrow(/has format 3/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
