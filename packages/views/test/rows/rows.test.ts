import { join } from 'node:path';
import { event } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { type Row, RowReader, readRows, rowsOf, rowWords } from '../../src/index.ts';
import { RandomLog } from './random-log.ts';
import { wrongRows } from './rows-oracle.ts';

const first = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 30));
const seeds = Array.from({ length: 200 }, (_, at) => first + at);
const seeded = `(HANSARD_SEED=${first})`;
const logs = seeds.map((seed) => new RandomLog(randomFrom(seed), 60));

describe('the row of a call that sent a message', () => {
  const call = event(
    'agent:tool_call',
    {
      toolCallId: 'c',
      tool: 'SendMessage',
      metadata: {},
      input: { to: 'alice', message: 'Only grey ones.' },
    },
    { id: 'c1' },
  );
  const result = event('agent:tool_result', {
    ...{ toolCallId: 'c', tool: 'SendMessage', status: 'completed', metadata: {} },
    output: 'sent',
  });
  const sent = (text: string) =>
    event('agent:message_sent', { text, to: { agent: 'alice' } }, { cause: 'c1' });

  it('has the message, if its input has the same text, so that the text is shown once', () => {
    const rows = rowsOf([call, result, sent('Only grey ones.')]);
    expect(rows.map(({ events }) => events)).toEqual([[0, 1, 2]]);
    expect(JSON.stringify(rows).split('Only grey ones.')).toHaveLength(2);
  });

  it('has another message in a row of its own', () => {
    expect(rowsOf([call, result, sent('All of them.')]).map(({ events }) => events)).toEqual([[0, 1], [2]]);
  });
});

describe('a row whose content was removed', () => {
  const sha256 = 'ab'.repeat(32);
  const part = { kind: 'image', mediaType: 'image/png', sha256, size: 7 } as const;
  const content = event('content:stored', { sha256, size: 7, base64: '' }, { id: sha256 });
  const others = [
    event('user:message', { text: 'look', source: { kind: 'user' }, parts: [part] }),
    event('agent:tool_call', { toolCallId: 'c', tool: 'Read', metadata: {}, input: {} }),
    event('agent:tool_result', {
      toolCallId: 'c',
      tool: 'Read',
      status: 'completed',
      metadata: {},
      output: [part],
    }),
  ];
  const partsOf = (rows: readonly Row[]) =>
    rows
      .flatMap(({ content, call }) => [...content, ...(call?.outcome ?? [])])
      .filter(({ kind }) => kind === 'media');

  it('says so, also if the reading begins after the bytes', () => {
    const removed = { kind: 'media', media: part, isRemoved: true };
    const rows = rowsOf([content, ...others]);
    expect(partsOf(rows)).toEqual([removed, removed]);
    expect(
      rows.flatMap((row) => rowWords(row).blocks.map((block) => 'text' in block && block.text)),
    ).toContain('[image/png 7 bytes, sha256 abababab…, removed]');
    const later = new RowReader({ first: 1, agents: [content] });
    for (const one of others) later.add(one);
    expect(partsOf(later.end())).toEqual([removed, removed]);
  });

  it('says nothing of bytes that a reader did not ask for', () => {
    const { base64: _, ...data } = content.data;
    expect(partsOf(rowsOf([{ ...content, data }, ...others]))).toEqual([
      { kind: 'media', media: part },
      { kind: 'media', media: part },
    ]);
  });
});

describe(`the rows of 200 random logs ${seeded}`, () => {
  it('are what happened: every event in one row, with input and outcome whole, and nothing else', () => {
    const wrong = logs.flatMap((log, at) =>
      wrongRows(rowsOf(log.events), log).map((line) => `seed ${seeds[at]}: ${line}`),
    );
    expect(wrong).toEqual([]);
    const rows = logs.flatMap((log) => rowsOf(log.events));
    const count = (is: (row: Row) => boolean) => rows.filter(is).length;
    expect(count(({ kind }) => kind === 'noise')).toBeGreaterThan(500);
    expect(count(({ status }) => status === 'denied')).toBeGreaterThan(100);
    expect(count(({ heard = [] }) => heard.some(({ how }) => how === 'altered'))).toBeGreaterThan(100);
    expect(count(({ kind, folded }) => kind === 'call' && folded !== undefined)).toBeGreaterThan(50);
    expect(count(({ model }) => model !== undefined)).toBeGreaterThan(500);
  });

  it('are the same one by one, as they settle, and page by page', async () => {
    for (const { events } of logs.slice(0, 20)) {
      for (const reach of [{ events: 3 }, { events: 20 }, { characters: 400 }, {}]) {
        const whole = rowsOf(events, reach);
        const reader = new RowReader(reach);
        const settled = events.flatMap((event) => {
          reader.add(event);
          return reader.settled();
        });
        expect([...settled, ...reader.end()]).toEqual(whole);
        const read: Row[] = [];
        for await (const row of readRows(pagesOf(events), reach)) read.push(row);
        expect(read).toEqual(whole);
        expect(whole.flatMap((row) => row.events).toSorted((one, other) => one - other)).toEqual([
          ...events.keys(),
        ]);
      }
    }
  });

  it('have the same events where only these are wanted', () => {
    expect(wrongGroups(RowReader)).toBeNull();
  });

  it.each([
    ['keeps rows open', 'this.#open.advance(node);', ''],
    ['names no row', 'this.#open.name(group, node.event.id);', ''],
    ['joins no delivery', 'return said;', 'return this.#groupsOnly ? null : said;'],
    ['joins no decision', 'return group;\n  }\n\n  #decisionOf', 'return null;\n  }\n\n  #decisionOf'],
    ['keeps a text beside a call apart', 'model.kind = this.#kindOf(event);', "model.kind = 'event';"],
  ])('would have others if a reader %s', async (_, piece, instead) => {
    const made = await importMutated(home, ['rows/row-reader.ts', piece, instead], 'index.ts');
    expect(wrongGroups((made as { RowReader: typeof RowReader }).RowReader)).not.toBeNull();
  });

  it('are given while the log is read, at most as many events later as they can change', async () => {
    const { events } = new RandomLog(randomFrom(first), 200);
    let read = 0;
    async function* pages() {
      for (const event of events) {
        read += 1;
        yield [event];
      }
    }
    for await (const { position } of readRows(pages(), { events: 10 }))
      expect(read).toBeLessThanOrEqual(position + 12);
    expect(read).toBe(events.length);
  });

  it('change only where the reader says so', () => {
    for (const { events } of logs.slice(0, 8)) {
      const reader = new RowReader();
      const seen = new Map<number, string>();
      for (const [position, event] of events.entries()) {
        const changed = reader.add(event);
        expect(reader.at(changed[0] ?? -1)?.events).toContain(position);
        for (const at of changed) seen.set(at, JSON.stringify(reader.at(at)));
        for (const [at, row] of seen) expect(JSON.stringify(reader.at(at))).toBe(row);
      }
    }
  });
});

const home = join(import.meta.dirname, '../..');

/** The first of 100 logs in which rows have other events where only these are wanted. Null: none. */
function wrongGroups(Reader: typeof RowReader): string | null {
  for (let seed = 1; seed <= 100; seed += 1) {
    const { events } = new RandomLog(randomFrom(seed), 60);
    for (const reach of [{ events: 3 }, { events: 20 }, { characters: 400 }]) {
      const reader = new Reader({ ...reach, groupsOnly: true });
      for (const event of events) reader.add(event);
      const of = (rows: readonly Row[]) =>
        JSON.stringify(rows.map(({ position, events }) => [position, events]));
      if (of(reader.end()) !== of(rowsOf(events, reach))) return `seed ${seed}, ${JSON.stringify(reach)}`;
    }
  }
  return null;
}

describe('the comparison with what happened', () => {
  const mutants: readonly (readonly [string, (rows: Row[]) => Row[]])[] = [
    ['a row that is lost', (rows) => rows.toSpliced(rows.length >> 1, 1)],
    ['two rows in the wrong order', (rows) => [rows[1] as Row, rows[0] as Row, ...rows.slice(2)]],
    ['an input that is cut', (rows) => rows.map((row) => ({ ...row, content: row.content.slice(0, -1) }))],
    ['an outcome that is left out', (rows) => rows.map(({ call, ...row }) => row)],
    ['a failure that is not marked', (rows) => rows.map((row) => ({ ...row, isFailed: false }))],
    ['a delivery that is lost', (rows) => rows.map(({ heard, ...row }) => row)],
    ['noise that is lost', (rows) => rows.map(({ folded, ...row }) => row)],
    [
      'an aside that is shown as said',
      (rows) => rows.map((row) => (row.kind === 'aside' ? { ...row, kind: 'said' } : row)),
    ],
    [
      'the texts of another row',
      (rows) => rows.map((row, at) => ({ ...row, content: rows[(at + 1) % rows.length]?.content ?? [] })),
    ],
    ['an event in two rows', (rows) => rows.map((row) => ({ ...row, events: [...row.events, 0] }))],
  ];

  it.each(mutants)('finds %s', (_, mutate) => {
    expect(logs.slice(0, 30).flatMap((log) => wrongRows(mutate(rowsOf(log.events)), log))).not.toEqual([]);
  });
});

async function* pagesOf<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += 7) yield items.slice(at, at + 7);
}

/** Numbers from 0 to below 1, the same for the same seed (xorshift). */
function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

describe('a call without a result', () => {
  const call = { toolCallId: 't1', tool: 'Bash', metadata: {} };
  const filler = Array.from({ length: 4 }, (_, at) => event('agent:text', { text: `Text ${at}` }));

  it('is open while its dispatch runs, and has none on record once that has ended', () => {
    const events = [event('agent:tool_call', call)];
    expect(rowsOf(events)[0]?.status).toBe('open');
    expect(rowsOf(events, { hasEnded: true })[0]?.status).toBe('no result on record');
  });

  it('has none nearby where later events were out of reach, or are not read', () => {
    const events = [event('agent:tool_call', call), ...filler];
    expect(rowsOf(events, { events: 2, hasEnded: true })[0]?.status).toBe('no result nearby');
    const reader = new RowReader({ hasEnded: true });
    for (const one of events) reader.add(one);
    expect(reader.end(undefined, { isEndOfLog: false })[0]?.status).toBe('no result nearby');
  });
});
