import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { compareSeal, isSeal, type Seal, sealDispatch } from '../src/index.ts';

const ref = { taskDir: 'lab/tasks/seals', dispatchId: 'D1' };
const secret = 'canary-00000001';

function randomEvents(random: () => number, count: number): CapturedEvent[] {
  return Array.from({ length: count }, (_, number) => ({
    id: `e${number}`,
    type: 'user:message',
    timestamp: new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString(),
    data: { text: `${random()} ${number}`, source: { kind: 'user' } },
  })) as CapturedEvent[];
}

async function storeWith(events: readonly CapturedEvent[], store = openDispatchStore(createMemoryStore())) {
  await using dispatch = await store.beginDispatch(ref.taskDir, {
    dispatchId: ref.dispatchId,
    role: 'r',
    fidelity: 'full',
  });
  for (const event of events) await dispatch.append([event]);
  await dispatch.end({ status: 'completed' });
  return store;
}

/** The seal, made of the exported lines by other means. */
async function expectedDigest(store: DispatchStore): Promise<string> {
  const hash = createHash('sha256');
  const keys = [
    'id',
    'type',
    'v',
    'timestamp',
    'agentId',
    'messageId',
    'substance',
    'cause',
    'via',
    'follows',
    'retracts',
  ];
  for (const event of await store.getDispatchEvents(ref)) {
    const fields = event as unknown as Record<string, unknown>;
    const line = keys
      .filter((key) => fields[key] !== undefined)
      .map((key) => `${JSON.stringify(key)}:${JSON.stringify(fields[key])}`);
    hash.update(`{${line.join(',')},"data":${JSON.stringify(event.data)}}\n`);
  }
  return hash.digest('hex');
}

describe('a seal', () => {
  it('names the task, the session, the number of events and a checksum over them, and holds no content', async () => {
    await using store = await storeWith(randomEvents(randomFrom(1), 5));
    const seal = await sealDispatch(store, ref, { now: () => Date.UTC(2026, 4, 1) });
    expect(seal).toEqual({
      seal: 'hansard-1',
      ...ref,
      events: 5,
      sha256: await expectedDigest(store),
      sealedAt: '2026-05-01T00:00:00.000Z',
    });
    expect(isSeal(JSON.parse(JSON.stringify(seal)))).toBe(true);
  });

  it('is the same in every store that holds the same events', async () => {
    const events = randomEvents(randomFrom(2), 300);
    const root = mkdtempSync(join(tmpdir(), 'hansard-seals-'));
    try {
      await using memory = await storeWith(events);
      await using files = await storeWith(events, openDispatchStore(openJsonFileStore({ root })));
      const seal = await sealDispatch(memory, ref);
      expect(await compareSeal(files, seal)).toEqual({ state: 'same' });
      expect((await sealDispatch(files, ref)).sha256).toBe(seal.sha256);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('shows each change of the sealed events: of any field, of their order, and of their number', async () => {
    let changes = 0;
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = randomFrom(seed);
      const events = randomEvents(random, 2 + Math.floor(random() * 20));
      await using store = await storeWith(events);
      const seal = await sealDispatch(store, ref);
      await using changed = await storeWith(changedOnce(events, random));
      expect(await compareSeal(changed, seal), `seed ${seed}`).toMatchObject({ state: 'changed' });
      changes += 1;
    }
    expect(changes).toBe(60);
  });

  it('says that a log was continued, if events follow the sealed ones', async () => {
    const events = randomEvents(randomFrom(3), 20);
    await using store = await storeWith(events.slice(0, 12));
    const seal = await sealDispatch(store, ref);
    await using longer = await storeWith(events);
    expect(await compareSeal(longer, seal)).toEqual({ state: 'continued', events: 20 });
  });

  it('says that a redaction rewrote the log, and when, because the log has a notice of it', async () => {
    const [first, ...others] = randomEvents(randomFrom(4), 6) as [CapturedEvent, ...CapturedEvent[]];
    const withSecret = { ...first, data: { ...first.data, text: `the key is ${secret}` } } as CapturedEvent;
    await using store = await storeWith([withSecret, ...others]);
    const seal = await sealDispatch(store, ref);
    await store.redactDispatch(ref, createRedactor({ patterns: { canary: 'canary-[a-z0-9]{8}' } }));
    const notice = (await store.getDispatchEvents(ref)).at(-1);
    expect(await compareSeal(store, seal)).toEqual({ state: 'rewritten', events: 7, at: notice?.timestamp });
  });

  it('does not show what else was changed in a log that has such a notice', async () => {
    const events = randomEvents(randomFrom(5), 6);
    await using store = await storeWith(events);
    const seal = await sealDispatch(store, ref);
    const notice = {
      id: 'n',
      type: 'system:notice',
      timestamp: null,
      data: { problem: 'p', replaced: { a: 1 } },
    };
    await using forged = await storeWith([
      ...changedOnce(events, randomFrom(6), 'field'),
      notice as unknown as CapturedEvent,
    ]);
    expect(await compareSeal(forged, seal)).toMatchObject({ state: 'rewritten', at: null });
  });

  it('says that a session is missing, if it was deleted', async () => {
    await using store = await storeWith(randomEvents(randomFrom(7), 3));
    const seal = await sealDispatch(store, ref);
    await store.deleteDispatch(ref);
    expect(await compareSeal(store, seal)).toEqual({ state: 'missing' });
  });

  it('proves nothing if it was changed together with the log: keep it elsewhere', async () => {
    const events = randomEvents(randomFrom(8), 6);
    await using forged = await storeWith(changedOnce(events, randomFrom(9)));
    expect(await compareSeal(forged, await sealDispatch(forged, ref))).toEqual({ state: 'same' });
  });

  it('does not cover the envelope: title, cost and status are computed from the log', async () => {
    await using store = await storeWith(randomEvents(randomFrom(10), 3));
    const seal = await sealDispatch(store, ref);
    await using dispatch = await store.openDispatch(ref, { write: true });
    await dispatch.end({ status: 'aborted' });
    expect(await compareSeal(store, seal)).toEqual({ state: 'same' });
  });

  it('does not prove its own time: sealedAt is what the clock of the machine said', async () => {
    await using store = await storeWith(randomEvents(randomFrom(11), 3));
    const seal: Seal = { ...(await sealDispatch(store, ref)), sealedAt: '1999-01-01T00:00:00.000Z' };
    expect(await compareSeal(store, seal)).toEqual({ state: 'same' });
  });

  it('is described by a page whose sentences are these tests', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/seals.md'), 'utf8');
    const own = readFileSync(import.meta.filename, 'utf8');
    const titles = [...own.matchAll(/^ {2}it\('(.*)',/gm)].map(([, title]) => title);
    const sentences = [...page.matchAll(/^- A seal (.*)\.$/gm)].map(([, sentence]) => sentence);
    expect(sentences).toEqual(titles.slice(0, -1));
  });
});

function changedOnce(
  events: readonly CapturedEvent[],
  random: () => number,
  kind = (['field', 'order', 'less', 'more', 'id', 'time'] as const)[Math.floor(random() * 6)],
): CapturedEvent[] {
  const at = Math.floor(random() * (events.length - 1));
  const [before, event, after] = [events.slice(0, at), events[at] as CapturedEvent, events.slice(at + 1)];
  switch (kind) {
    case 'order':
      return [...before, after[0] as CapturedEvent, event, ...after.slice(1)];
    case 'less':
      return [...before, ...after];
    case 'more':
      return [...before, { ...event, id: 'another' }, event, ...after];
    case 'id':
      return [...before, { ...event, id: 'another' }, ...after];
    case 'time':
      return [...before, { ...event, timestamp: '2027-01-01T00:00:00.000Z' }, ...after];
    default:
      return [...before, { ...event, data: { ...event.data, text: 'changed' } } as CapturedEvent, ...after];
  }
}
