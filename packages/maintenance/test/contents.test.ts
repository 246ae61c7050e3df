import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as dispatchParts from '@hansard/dispatch';
import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import { findContents, redactDispatches, type ScanItem, scanSecrets } from '@hansard/maintenance';
import * as redactionParts from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';

const taskDir = 'lab/tasks/look';
const types = ['image/png', 'application/pdf', 'audio/wav'] as const;
const kinds = { 'image/png': 'image', 'application/pdf': 'document', 'audio/wav': 'audio' } as const;

interface Made {
  readonly events: readonly NewEvent[];
  /** In the order of the first event of each. */
  readonly contents: Map<string, { base64: string; size: number; mediaType: string; namedBy: number[] }>;
}

/** Messages and results with a few contents, which repeat. The truth is noted while it is made, and shares no code with the reader. */
function makeLog(seed: number): Made {
  const random = randomFrom(seed);
  const files = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at) => {
    const bytes = Buffer.from(Array.from({ length: 3 + Math.floor(random() * 300) }, () => random() * 256));
    const mediaType = types[Math.floor(random() * types.length)] ?? types[0];
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { sha256, size: bytes.length, base64: bytes.toString('base64'), mediaType, name: `file ${at}` };
  });
  const contents: Made['contents'] = new Map();
  const events: NewEvent[] = [];
  let position = 0;
  for (let step = 0; step < 12; step += 1) {
    const chosen = files.filter(() => random() < 0.25);
    for (const { sha256, base64, size, mediaType } of chosen)
      if (!contents.has(sha256)) {
        contents.set(sha256, { base64, size, mediaType, namedBy: [] });
        position += 1;
      }
    for (const { sha256 } of chosen) contents.get(sha256)?.namedBy.push(position);
    const parts = chosen.map(({ sha256, mediaType, base64, name }) => ({
      kind: kinds[mediaType],
      // A later part can state another type.
      mediaType: contents.get(sha256)?.namedBy.length === 1 ? mediaType : 'application/octet-stream',
      base64,
      name,
    }));
    const id = `event-${seed}-${step}`;
    const isResult = random() < 0.4;
    events.push({
      ...(isResult
        ? newEvent('agent:tool_result', {
            toolCallId: `call-${step}`,
            tool: 'Read',
            status: 'completed',
            metadata: {},
            output: [{ type: 'text', text: 'seen' }, ...parts],
          })
        : newEvent('user:message', { text: `message ${step}`, source: { kind: 'user' }, parts })),
      id,
      timestamp: new Date(Date.UTC(2026, 2, 1, 10, 0, step)).toISOString(),
    });
    position += 1;
  }
  return { events, contents };
}

type Parts = Pick<typeof dispatchParts, 'openDispatchStore'> &
  Pick<typeof redactionParts, 'createRedactor' | 'UnreadContents'>;

/** Records a log, scans it, removes some contents, and records the same source again, in stages. Throws at the first wrong answer. */
async function check(
  seed: number,
  { openDispatchStore, createRedactor, UnreadContents }: Parts,
): Promise<void> {
  const random = randomFrom(seed + 1);
  const { events, contents } = makeLog(seed);
  const provider = createMemoryStore();
  const store = openDispatchStore(provider);
  const dispatch = await store.beginDispatch(taskDir, { role: 'r', dispatchId: 'D', fidelity: 'full' });
  await dispatch.append(events);
  await dispatch.end({ status: 'completed' });
  const stored = () => provider.getDispatchEvents(taskDir, 'D') as CapturedEvent[];
  const before = stored();

  const unread = new UnreadContents();
  for await (const { position, event } of (await store.openDispatch({ taskDir, dispatchId: 'D' })).events())
    unread.add(event, position);
  const known = unread.all.map(({ sha256, size, mediaType, namedBy }) => ({
    sha256,
    size,
    mediaType,
    namedBy,
  }));
  const expected = (removed: ReadonlySet<string>) =>
    [...contents].flatMap(([sha256, { size, mediaType, namedBy }]) =>
      removed.has(sha256) ? [] : [{ sha256, size, mediaType, namedBy }],
    );
  expect(known).toEqual(expected(new Set()));

  const removed = new Set([...contents.keys()].filter(() => random() < 0.5));
  const redactor = createRedactor({ formats: false, contents: [...removed] });
  const done = await store.redactDispatch({ taskDir, dispatchId: 'D' }, redactor);
  expect(done.events).toBe(removed.size);
  expect(done.counts).toEqual(removed.size === 0 ? {} : { content: removed.size });
  expect(done.unread.map(({ position: _, ...content }) => content)).toEqual(expected(removed));
  const left = new UnreadContents();
  for (const [position, event] of stored().entries()) left.add(event, position);
  expect(left.all).toEqual(done.unread);
  const again = await store.redactDispatch({ taskDir, dispatchId: 'D' }, redactor);
  expect([again.events, again.counts]).toEqual([0, {}]);

  const writer = await store.openDispatch({ taskDir, dispatchId: 'D' }, { write: true });
  const [first] = events;
  const grown = [...events, { ...first, id: `event-${seed}-new` } as NewEvent];
  for (let at = 0; at < grown.length; ) {
    const next = at + 1 + Math.floor(random() * 4);
    await writer.append(grown.slice(at, next));
    at = next;
  }
  for (const [sha256, { base64 }] of contents)
    expect(await writer.readContent(sha256)).toBe(removed.has(sha256) ? null : base64);
  await writer.release();
  const text = JSON.stringify(stored());
  for (const [sha256, { base64 }] of contents)
    expect(text.includes(`"${base64}"`)).toBe(!removed.has(sha256));
  expect(stored().at(-1)).toEqual({ ...before.find(({ id }) => id === first?.id), id: `event-${seed}-new` });
  const withoutNotice = stored()
    .slice(0, -1)
    .filter(({ type }) => type !== 'system:notice');
  expect(withoutNotice.map(({ id, type }) => [id, type])).toEqual(before.map(({ id, type }) => [id, type]));
  const isKept = ({ type, id }: CapturedEvent) => type !== 'content:stored' || !removed.has(id);
  expect(withoutNotice.filter(isKept)).toEqual(before.filter(isKept));
}

const seeds = Array.from({ length: 40 }, (_, at) => at + 1);

it(`contents are found, removed and kept away in random logs (seeds 1 to ${seeds.length})`, async () => {
  for (const seed of seeds) await check(seed, { ...dispatchParts, ...redactionParts });
});

const packages = join(import.meta.dirname, '../..');

const mutants: readonly (readonly [name: string, file: string, piece: string, instead: string])[] = [
  ['removes every content', 'redaction/create-redactor.ts', 'removed.has(String(event.data.sha256))', 'true'],
  [
    'removes no content',
    'redaction/create-redactor.ts',
    "data: withCounts({ ...redacted.data, base64: '' }",
    'data: withCounts({ ...redacted.data, base64 }',
  ],
  ['counts no removal', 'redaction/create-redactor.ts', '{ [contentKind]: 1 }', '{}'],
  ['removes again what is removed', 'redaction/create-redactor.ts', "base64 !== '' && removed", 'removed'],
  ['reports removed contents as unread', 'redaction/find-secrets.ts', "base64 !== ''", 'true'],
  [
    'reports no content of a reader without bytes',
    'redaction/find-secrets.ts',
    '? leftOut === undefined',
    '? false',
  ],
  [
    'finds no part in the data of an event',
    'redaction/find-secrets.ts',
    'mediaPartsIn(event.data)',
    'mediaPartsIn(event.data.parts)',
  ],
  [
    'takes the type of the last part',
    'redaction/find-secrets.ts',
    'content.mediaType ??= mediaType ?? null',
    "content.mediaType = mediaType ?? ''.concat('x')",
  ],
  [
    'names the event of the bytes only',
    'redaction/find-secrets.ts',
    'content.namedBy.push(position)',
    'content.namedBy.push(content.position)',
  ],
  [
    'looks for secrets without the bytes',
    'dispatch/redaction/redact-stored.ts',
    'stored.readPage({ after }, true)',
    'stored.readPage({ after })',
  ],
  [
    'reports what was there before',
    'dispatch/redaction/redact-stored.ts',
    'unread.add(found.event(event), first + index)',
    'found.event(event), unread.add(event, first + index)',
  ],
  [
    'stores the removed bytes again',
    'dispatch/redaction/redacted-appends.ts',
    "!events.some(isContent) || !storeErrors.is(conflict, 'STORE_EVENT_CONFLICT')",
    'true',
  ],
  [
    'loses events beside a removed content',
    'dispatch/redaction/redacted-appends.ts',
    'known[index] === null',
    'known.every((one) => one === null)',
  ],
];

describe('a broken removal is caught', () => {
  it.each(mutants)('%s', async (_, path, piece, instead) => {
    const [home = '', ...file] = path.split('/');
    const changed = (await importMutated(
      join(packages, home),
      [file.join('/'), piece, instead],
      'index.ts',
    )) as Partial<Parts>;
    const run = async () => {
      for (const seed of seeds) await check(seed, { ...dispatchParts, ...redactionParts, ...changed });
    };
    await expect(run()).rejects.toThrow();
  });
});

async function withContents() {
  const provider = createMemoryStore();
  const store = dispatchParts.openDispatchStore(provider);
  const { events, contents } = makeLog(5);
  for (const dispatchId of ['A', 'B']) {
    const dispatch = await store.beginDispatch(taskDir, { role: 'r', dispatchId, fidelity: 'full' });
    await dispatch.append(events.map((event) => ({ ...event, id: `${dispatchId}-${event.id}` })));
    await dispatch.end({ status: 'completed' });
  }
  const narrative = await store.beginDispatch(taskDir, { role: 'r', dispatchId: 'N' });
  await narrative.append(events);
  await narrative.end({ status: 'completed' });
  return { provider, store, contents };
}

describe('contents of a store', () => {
  it('are in the answer of a scan, and those of a narrative are not', async () => {
    const { store, contents } = await withContents();
    const items: ScanItem[] = [];
    for await (const item of scanSecrets(store, redactionParts.createRedactor())) items.push(item);
    const found = items.flatMap(({ scanned }) =>
      scanned === undefined
        ? []
        : [[scanned.dispatchId, scanned.unread.map(({ sha256 }) => sha256)] as const],
    );
    const all = [...contents.keys()];
    expect(new Map(found)).toEqual(
      new Map([
        ['A', all],
        ['B', all],
        ['N', []],
      ]),
    );
  });

  it('are found by the beginning of their digest, with how many sessions have them and had them removed', async () => {
    const { store, contents } = await withContents();
    const [[sha256, { size, mediaType }] = ['', { size: 0, mediaType: '' }]] = contents;
    const redactor = redactionParts.createRedactor({ formats: false, contents: [sha256] });
    for await (const { error } of redactDispatches(store, redactor, { taskDir, dispatchId: 'A' }))
      expect(error).toBeNull();
    expect(await findContents(store, [sha256.slice(0, 8)], { taskDir, dispatchId: 'A' })).toEqual([
      { sha256, size, mediaType, dispatches: 0, removed: 1 },
    ]);
    const [found] = await findContents(store, [sha256.slice(0, 8)], {});
    // The narrative names it, and has no bytes.
    expect(found).toEqual({ sha256, size, mediaType, dispatches: 1, removed: 1 });
    expect(await findContents(store, ['0'.repeat(8)])).toEqual([]);
  });
});
