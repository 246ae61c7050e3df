import { TranscriptTree } from '@hansard/prompt';
import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  addressedEvents,
  EventFilter,
  type FoldedRows,
  foldsOf,
  type Row,
  readFolds,
  readRows,
  renderRow,
  rowsOf,
  shownRows as rowsOfLog,
} from '../../src/index.ts';
import { shownRows, talkingLog, wrongFolds } from './branched-rows.ts';

const seeds = Number(process.env.HANSARD_FOLD_SEEDS ?? 400);

async function* listed<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += 7) yield items.slice(at, at + 7);
}

async function rowsIn(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

describe('the rows of a random log with branches', () => {
  it(`are all shown or folded, each once, as the writer of the log knows it (${seeds} seeds)`, async () => {
    let [folded, kept] = [0, 0];
    for (let seed = 1; seed <= seeds; seed += 1) {
      const log = talkingLog(seed);
      const folds = await readFolds(listed(log.events));
      expect({ seed, wrong: wrongFolds(log, folds) }).toEqual({ seed, wrong: [] });
      folded += folds.folded.length;
      kept += shownRows(log, folds, () => false).filter(({ branch }) => branch !== undefined).length;
    }
    // Many branches are folded, and something that others received stays.
    expect(folded).toBeGreaterThan(seeds);
    expect(kept).toBeGreaterThan(seeds / 20);
  });

  it('are given from the end as from the beginning, and the log is read once for the last ones', async () => {
    for (let seed = 1; seed <= Math.min(seeds, 150); seed += 1) {
      const { events } = talkingLog(seed);
      let read = 0;
      const log = {
        envelope: { folded: null, branched: true },
        async *pages() {
          read += 1;
          for await (const list of listed(events)) yield { events: list };
        },
      };
      for (const criteria of [{}, { types: ['agent:text', 'user:message'] }]) {
        const filter = new EventFilter(criteria);
        const options = { copied: null, isOpen: ({ position }: FoldedRows) => position % 3 === 0 };
        const all = await rowsIn(rowsOfLog(log, filter, options));
        for (const last of [0, 1, 4, 30]) {
          read = 0;
          const rows = await rowsIn(rowsOfLog(log, filter, { ...options, last }));
          expect({ seed, last, rows, read }).toEqual({
            ...{ seed, last, rows: last === 0 ? [] : all.slice(-last), read: Math.min(last, 1) },
          });
        }
      }
    }
  });

  it('are given from the end also where more of the last ones are folded than a reader keeps', async () => {
    const turns = Array.from({ length: 1_500 }, (_, at) => ({ ...asked(`Loaf ${at}`), id: `q${at}` }));
    const events = [
      { ...asked('Bake'), id: 'p1' },
      ...turns,
      { ...event('session:rewind', { keptThrough: 'p1' }), id: 'r1' },
    ];
    const log = {
      envelope: { folded: null, branched: true },
      async *pages() {
        for await (const list of listed(events)) yield { events: list };
      },
    };
    const options = { copied: null, isOpen: () => false, last: 3 };
    const rows = await rowsIn(rowsOfLog(log, new EventFilter(), options));
    expect(rows.map(({ position, kind }) => `${position} ${kind}`)).toEqual([
      ...['0 message', '1 branch', '1501 event'],
    ]);
  });

  it('are reached by the address of any of their events, with nothing of another branch', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const log = talkingLog(seed);
      const tree = new TranscriptTree<number>();
      for (const [at, one] of log.events.entries()) tree.add(one, at);
      for (const [at, { id }] of log.events.entries()) {
        const only = new Set(tree.eventsThrough(id));
        const rows: Row[] = [];
        for await (const row of readRows(listed(log.events), { only })) rows.push(row);
        const shown = rows.flatMap((row) => row.events).sort((one, other) => one - other);
        expect(shown).toEqual([...only]);
        expect(shown).toContain(at);
      }
    }
  });
});

const said = (text: string) => event('agent:text', { text });
const asked = (text: string) => event('user:message', { text, source: { kind: 'user' } });

describe('a branch that was left', () => {
  const events = [
    { ...asked('Bake'), id: 'p1' },
    { ...said('Rye'), id: 't1' },
    { ...asked('No, wheat'), id: 'p2' },
    { ...said('Wheat'), id: 't2' },
    { ...event('session:rewind', { keptThrough: 't1' }), id: 'r1' },
    { ...asked('Spelt'), id: 'p3' },
    { ...said('Spelt it is'), id: 't3' },
  ];

  it('is one row with its size, what left it and its address', async () => {
    const folds = await readFolds(listed(events));
    const rows = rowsOf(events).flatMap((row) => folds.shown(row, () => false) ?? []);
    expect(rows.map(({ position, kind }) => `${position} ${kind}`)).toEqual([
      ...['0 message', '1 said', '2 branch', '4 event', '5 message', '6 said'],
    ]);
    expect(renderRow(rows[2] as Row)).toBe(
      '   2  09:30:00  branch  ▸ 1 prompt, 2 events, abandoned by a rewind; it ends with 3',
    );
  });

  it('is left by a rewind that names the position of the last event that stays', async () => {
    const folds = await readFolds(listed(events));
    const [row] = rowsOf(events).flatMap((one) =>
      one.position === 4 ? (folds.shown(one, () => false) ?? []) : [],
    );
    expect(renderRow(row as Row)).toContain(
      'rewind  back to 1, which is the last event that the agent keeps',
    );
  });

  it('is named a second program where no rewind left it', async () => {
    const second = [...events.slice(0, 4), { ...asked('Spelt'), id: 'p3', follows: 't1' }];
    const folds = await readFolds(listed(second));
    const [row] = rowsOf(second)
      .flatMap((one) => folds.shown(one, () => false) ?? [])
      .slice(2);
    expect(renderRow(row as Row)).toContain(
      '1 prompt, 2 events, a parallel branch (a second program); it ends with 3',
    );
  });

  it('has its rows when it is opened, and each says that it is abandoned', async () => {
    const folds = await readFolds(listed(events));
    const rows = rowsOf(events).flatMap((row) => folds.shown(row, () => true) ?? []);
    expect(rows.map((row) => renderRow(row)).filter((text) => text.includes('abandoned'))).toEqual([
      expect.stringContaining('No, wheat'),
      expect.stringContaining('Wheat'),
    ]);
  });

  it('is looked for only where the envelope says so, or has not counted the events', async () => {
    const log = (envelope: object, some = events) => {
      let read = 0;
      const { pages } = addressedEvents(some);
      const counted = {
        envelope: { folded: null, ...envelope },
        async *pages(options?: { readonly after?: number }) {
          for await (const page of pages(options)) {
            read += page.events.length;
            yield page;
          }
        },
      };
      return { counted, read: () => read };
    };
    const straight = log({ folded: { through: 3, eventId: 't2' } }, events.slice(0, 4));
    expect(await foldsOf(straight.counted)).toBeNull();
    expect(straight.read()).toBe(0);
    const grown = log({ folded: { through: 3, eventId: 't2' } });
    expect((await foldsOf(grown.counted))?.folded).toHaveLength(1);
    expect(await foldsOf(log({}, events.slice(0, 4)).counted)).toBeNull();
    expect((await foldsOf(log({ branched: true }).counted))?.folded).toHaveLength(1);
  });
});

describe('the head that a fork repeats', () => {
  const from = {
    product: 'hansard',
    sessionId: 'D1',
    dispatchId: '01JQ00000000000000000000AB',
    recordId: 't1',
  };
  const head = [
    { ...event('session:fork', { from, kind: 'fork' }), id: 'f1' },
    { ...asked('Bake'), id: 'p1' },
    { ...said('Rye'), id: 't1' },
    { ...asked('Spelt'), id: 'p3' },
  ];

  it('is one row that names its origin', async () => {
    const folds = await readFolds(listed(head));
    const rows = rowsOf(head).flatMap((row) => folds.shown(row, () => false) ?? []);
    expect(rows.map(({ position, kind }) => `${position} ${kind}`)).toEqual([
      '0 event',
      '1 copies',
      '3 message',
    ]);
    expect(renderRow(rows[1] as Row)).toContain('the first 2 events are those of ');
  });

  it('of an import is what is copied from another session, without what was edited', async () => {
    const edited = { ...asked('Bake less'), id: 'e1' };
    const events = [...head.slice(0, 2), edited, ...head.slice(2)];
    const copied = new Map([
      ['p1', '01JQ00000000000000000000CD'],
      ['t1', '01JQ00000000000000000000CD'],
    ]);
    const folds = await readFolds(listed(events), {}, copied);
    const rows = rowsOf(events).flatMap((row) => folds.shown(row, () => false) ?? []);
    expect(rows.map(({ position, kind }) => `${position} ${kind}`)).toEqual([
      '0 copies',
      '2 message',
      '4 message',
    ]);
  });

  it('of an import has the call of its last answer, which is recorded after it', async () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const events = [
      { ...asked('Bake'), id: 'p1' },
      { ...said('Rye'), id: 't1', messageId: 'm1' },
      { ...event('agent:inference', { model: 'm', usage }), id: 'm1:inference', messageId: 'm1' },
      { ...asked('Spelt'), id: 'p3' },
    ];
    const copied = new Map(['p1', 't1', 'm1:inference'].map((id) => [id, '01JQ00000000000000000000CD']));
    const folds = await readFolds(listed(events), {}, copied);
    const rows = rowsOf(events).flatMap((row) => folds.shown(row, () => false) ?? []);
    expect(rows.map(({ position, kind }) => `${position} ${kind}`)).toEqual(['0 copies', '3 message']);
  });

  it('is not folded where the log does not say what is repeated, or refers to its origin', async () => {
    const { recordId: _, ...unknown } = from;
    const [, ...rest] = head;
    for (const data of [
      { from: unknown, kind: 'fork' },
      { from, through: 't1' },
    ]) {
      const folds = await readFolds(listed([{ ...event('session:fork', data), id: 'f1' }, ...rest]));
      expect(folds.folded).toEqual([]);
    }
  });
});

it('a message that an engine took back is marked', async () => {
  const events = [
    { ...said('Sorry'), id: 't1' },
    { ...anyEvent('system:model_refusal_fallback', {}), id: 's1', retracts: ['t1'] },
  ];
  const folds = await readFolds(listed(events));
  const [row] = rowsOf(events).flatMap((one) => folds.shown(one, () => false) ?? []);
  expect(renderRow(row as Row)).toBe('   0  09:30:00  text  retracted  Sorry');
});
