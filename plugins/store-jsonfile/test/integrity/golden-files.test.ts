import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from '../envelope.ts';
import { dispatchFile, makeRoot, openStore, readDocument, taskDir } from '../sample.ts';
import { readByOracle } from './oracle.ts';

const orders = { ended: [1, 2, 3, 4, 5], running: [2, 1, 3, 5, 4] };
type Name = keyof typeof orders;

/** What the golden files contain. */
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

function goldenFile(name: Name): string {
  return join(import.meta.dirname, `../fixtures/format-1-${name}.json`);
}

/** A store with a golden file. */
function withGolden(name: Name) {
  const root = makeRoot();
  const file = dispatchFile(root, name);
  mkdirSync(dirname(file), { recursive: true });
  cpSync(goldenFile(name), file);
  return { root, file, store: openStore(root) };
}

const late: CapturedEvent = {
  id: 'z1',
  type: 'agent:text',
  timestamp: '2026-03-02T09:30:00.000Z',
  data: { text: 'late' },
};

describe('a file that was written in format 1', () => {
  it.each(['ended', 'running'] as const)('reads as it was written (%s), and is not changed', (name) => {
    const { file, store } = withGolden(name);
    const { events, envelope } = contentOf(name);
    expect(store.getDispatchEvents(taskDir, name)).toEqual(events);
    expect(store.getDispatchEnvelope(taskDir, name)).toEqual(envelope);
    expect(store.readEvents(taskDir, name, { last: 2 })).toEqual({
      events: events.slice(3),
      first: 3,
      next: 4,
    });
    expect(store.verifyDispatch(taskDir, name)).toEqual({
      integrity: 'checksum',
      wholeEvents: 5,
      bytes: readFileSync(file).length,
      damages: [],
    });
    expect(readFileSync(file).equals(readFileSync(goldenFile(name)))).toBe(true);
  });

  it.each(['ended', 'running'] as const)('can be written (%s), and keeps its events', (name) => {
    const { root, file, store } = withGolden(name);
    const { events, envelope } = contentOf(name);
    const claim = store.claimDispatch(taskDir, name);
    expect(claim).toEqual({ envelope, epoch: 2 });
    store.appendEvents(taskDir, name, [events[0] ?? late, late]);
    store.close();
    expect(readDocument(file).format).toBe(1);
    expect(readByOracle(readFileSync(file))).toEqual({ events: [...events, late] });
    const next = openStore(root);
    expect(next.getDispatchEvents(taskDir, name)).toEqual([...events, late]);
    expect(next.verifyDispatch(taskDir, name)).toMatchObject({ integrity: 'checksum', wholeEvents: 6 });
    expect(next.claimDispatch(taskDir, name).epoch).toBe(3);
  });
});

describe('a file of format 1', () => {
  it('is written with the same bytes by this version', () => {
    const root = makeRoot();
    const store = openStore(root);
    const { events, envelope } = contentOf('running');
    store.createDispatch(taskDir, envelope);
    store.appendEvent(taskDir, 'running', events[0] ?? late);
    store.appendEvents(taskDir, 'running', events.slice(1, 4));
    store.appendEvent(taskDir, 'running', events[4] ?? late);
    const bytes = readFileSync(dispatchFile(root, 'running'));
    expect(bytes.toString()).toBe(readFileSync(goldenFile('running'), 'utf8'));
  });
});

describe('a file of a newer format', () => {
  it('is refused with the number of the format', () => {
    const { file, store } = withGolden('ended');
    const text = readFileSync(file, 'utf8').replaceAll('"format":1', '"format":2');
    writeFileSync(file, text);
    expect(() => store.getDispatchEnvelope(taskDir, 'ended')).toThrow(/has format 2, and this version/);
    expect(() => store.claimDispatch(taskDir, 'ended')).toThrow(/has format 2/);
    expect(store.listDispatches().dispatches).toMatchObject([
      { envelope: null, error: { code: 'STORE_NEWER' } },
    ]);
    // It is not damage, and nothing may put its whole events into a file of this format.
    const calls = [
      () => store.verifyDispatch(taskDir, 'ended'),
      () => store.acceptLoss(taskDir, 'ended', late),
      () => store.rewriteDispatch(taskDir, 'ended', { envelope: (one) => one, event: (one) => one }),
    ];
    for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: 'STORE_NEWER' }));
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

describe('a file without a format', () => {
  it.each([
    [
      'an envelope and its events, without checksums',
      (text: string) => text.replaceAll(/"format":1,"task":"[^"]*",/g, ''),
    ],
    ['the document of another program', () => '{"name":"a file of mine"}\n'],
    ['nothing', () => ''],
  ])('is damage, and is not changed: %s', (_, change) => {
    const { file, store } = withGolden('ended');
    const text = change(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    const reason = /does not begin with the head of a dispatch|both copies of the head are damaged/;
    expect(() => store.getDispatchEnvelope(taskDir, 'ended')).toThrow(reason);
    expect(() => store.claimDispatch(taskDir, 'ended')).toThrow(reason);
    expect(store.verifyDispatch(taskDir, 'ended').damages).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
