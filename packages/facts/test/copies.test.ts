import type { CapturedEvent, JsonObject } from '@hansard/events';
import { CopyFinder } from '@hansard/facts';
import { describe, expect, it } from 'vitest';

interface Row {
  readonly id: string;
  readonly text: string;
  /** Of an answer. */
  readonly message?: string;
  readonly tokens?: number;
  readonly details?: JsonObject;
}

const prompt = (id: string, text: string, details?: JsonObject): Row => ({
  id,
  text,
  ...(details && { details }),
});
const answer = (id: string, message: string, text: string, more: Partial<Row> = {}): Row => ({
  ...{ id, message, text },
  ...more,
});

function eventsOf(rows: readonly Row[]): CapturedEvent[] {
  const timestamp = null;
  return rows.flatMap(({ id, text, message, tokens = 5, details }): CapturedEvent[] => {
    const data = { text, ...(details && { details }) };
    if (message === undefined) return [{ id, type: 'user:message', timestamp, data }];
    const usage = { inputTokens: 1, outputTokens: tokens };
    return [
      { id, type: 'agent:text', timestamp, messageId: message, data },
      {
        ...{ id: `${message}:inference`, type: 'agent:inference', timestamp, messageId: message },
        data: { model: 'm', usage },
      },
    ];
  });
}

interface Session {
  readonly rows: readonly Row[];
  readonly origin?: string;
}

/** By session, named by a letter: the ids of its copied events, with the session that each is copied from. */
function copiesIn(sessions: Readonly<Record<string, Session>>) {
  const finder = new CopyFinder();
  for (const [name, { rows, origin = null }] of Object.entries(sessions)) {
    finder.begin({ dispatchId: name.toUpperCase(), sessionId: name, origin });
    for (const event of eventsOf(rows)) finder.add(event);
  }
  const found = finder.find();
  return Object.fromEntries(
    [...found].map(([id, { copied, raised, differing, isOriginKnown }]) => [
      id,
      {
        ...(copied.size > 0 && { copied: Object.fromEntries(copied), isOriginKnown }),
        ...(raised.size > 0 && {
          raised: Object.fromEntries([...raised].map(([one, { data }]) => [one, data.usage.outputTokens])),
        }),
        ...(differing.length > 0 && { differing }),
      },
    ]),
  );
}

const head = [prompt('u1', 'Plan it.'), answer('a1', 'm1', 'Planned.')];
const own = (name: string) => [
  prompt(`u-${name}`, `Now ${name}.`),
  answer(`a-${name}`, `m-${name}`, 'Done.'),
];
const copiedHead = (from: string) => ({ u1: from, a1: from, 'm1:inference': from });

describe('the copies among sessions of Claude Code', () => {
  it('include blocks of an answer of which the first session has only a part', () => {
    const [asked, whole] = [prompt('u1', 'Plan it.'), answer('a1', 'm1', 'Plan')];
    const part = [asked, whole];
    const both = (copy: string) => [...part, answer(`a2-${copy}`, 'm1', 'ned.', { tokens: 9 })];
    const found = copiesIn({ a: { rows: part }, b: { rows: both('b') }, c: { rows: both('c') } });
    expect(found.B?.copied).toEqual(copiedHead('A'));
    expect(found.C?.copied).toEqual({ ...copiedHead('A'), 'a2-c': 'B' });
  });

  it('are a prompt of 1.x in its place, also after a late record of another branch', () => {
    const details = { version: '1.0.56' };
    const events = (name: string, late: CapturedEvent[]) => {
      const rows = [
        prompt(`u1${name}`, 'Plan it.', details),
        answer(`a1${name}`, 'm1', 'Planned.', { details }),
      ];
      const more = [prompt(`u2${name}`, 'Go on.', details), answer(`a2${name}`, 'm2', 'Done.', { details })];
      return [...eventsOf(rows), ...late, ...eventsOf(more)];
    };
    const data = { text: 'late', source: { kind: 'system' }, details };
    const late = { id: 'l', type: 'user:message' as const, timestamp: null, follows: 'u1a', data };
    const finder = new CopyFinder();
    for (const [name, all] of [
      ['a', events('a', [late])],
      ['b', events('b', [])],
    ] as const) {
      finder.begin({ dispatchId: name, sessionId: name, origin: null });
      for (const event of all) finder.add(event);
    }
    expect([...(finder.find().get('b')?.copied.keys() ?? [])]).toContain('u2b');
  });

  it('are prompts of 1.x in their place, also on a branch that the session left and returned to', () => {
    const details = { version: '1.0.56' };
    const said = (name: string, id: string, text: string) =>
      eventsOf([prompt(`${id}${name}`, text, details)]);
    const answered = (name: string, id: string) =>
      eventsOf([answer(`${id}${name}`, `m-${id}`, 'Done.', { details })]);
    const rewind = (id: string, keptThrough: string): CapturedEvent => ({
      ...{ id, type: 'session:rewind', timestamp: null, data: { keptThrough } },
    });
    const begun = (name: string) => [...said(name, 'u1', 'Plan it.'), ...answered(name, 'a1')];
    // The second prompt was taken back before its answer, and has the next one after a return.
    const left = [
      rewind('r1', 'a1a'),
      ...said('a', 'u3', 'No.'),
      ...answered('a', 'a3'),
      rewind('r2', 'u2a'),
    ];
    const ended = (name: string) => [...said(name, 'u4', 'Go on.'), ...answered(name, 'a4')];
    const finder = new CopyFinder();
    for (const [name, events] of [
      ['a', [...begun('a'), ...said('a', 'u2', 'Wait.'), ...left, ...ended('a')]],
      ['b', [...begun('b'), ...said('b', 'u2', 'Wait.'), ...ended('b')]],
    ] as const) {
      finder.begin({ dispatchId: name, sessionId: name, origin: null });
      for (const event of events) finder.add(event);
    }
    const rows = [...(finder.find().get('b')?.copied.keys() ?? [])].filter((id) => !id.startsWith('m-'));
    expect(rows.sort()).toEqual(['a1b', 'a4b', 'u1b', 'u2b', 'u4b']);
  });

  it('are sessions that share only the summary of a compaction', () => {
    const summary: CapturedEvent = {
      ...{ id: 's1', type: 'session:compaction', timestamp: null },
      data: { trigger: 'auto', summary: 'All.' },
    };
    const finder = new CopyFinder();
    for (const name of ['a', 'b']) {
      finder.begin({ dispatchId: name, sessionId: name, origin: null });
      finder.add(summary);
    }
    expect(finder.find().get('b')?.copied).toEqual(new Map([['s1', 'a']]));
  });

  it('belong to the session that the log names, in any order', () => {
    const sessions = {
      a: { rows: [...head, ...own('a')], origin: 'B' },
      b: { rows: [...head, ...own('b')] },
    };
    const expected = { A: { copied: copiedHead('B'), isOriginKnown: true } };
    expect(copiesIn(sessions)).toEqual(expected);
    expect(copiesIn({ b: sessions.b, a: sessions.a })).toEqual(expected);
  });

  it('are found by their content between the same answers, if their ids are only lines of a file', () => {
    const headAt = (first: number) => [
      prompt(`line-${first}`, 'Plan it.'),
      answer(`line-${first + 1}`, 'm1', 'Planned.'),
      prompt(`line-${first + 3}`, 'continue'),
      prompt(`line-${first + 4}`, 'continue'),
      answer(`line-${first + 5}`, 'm2', 'Built.'),
      prompt(`line-${first + 6}`, 'continue'),
    ];
    // Two prompts can have one text and one line.
    const sameLine = (message: string) => [prompt('line-40', 'Go.'), answer('line-41', message, message)];
    const sessions = {
      a: { rows: [...headAt(7), answer('line-20', 'm3', 'Mine.'), ...sameLine('m5')], origin: 'B' },
      b: { rows: [...headAt(1), answer('line-9', 'm4', 'Done.'), ...sameLine('m6')] },
      c: { rows: headAt(1) },
    };
    const copied = { 'line-7': 'B', 'line-8': 'B', 'line-10': 'B', 'line-11': 'B', 'line-12': 'B' };
    const { A, C } = copiesIn(sessions);
    expect(A).toEqual({
      copied: { ...copied, 'm1:inference': 'B', 'm2:inference': 'B' },
      isOriginKnown: true,
    });
    // Nothing relates it: equal places in two files prove nothing.
    expect(C?.copied).toBeUndefined();
  });

  it('belong to the session with the smallest id where no log names an origin, which is reported', () => {
    expect(copiesIn({ b: { rows: [...head, ...own('b')] }, a: { rows: head } })).toEqual({
      B: { copied: copiedHead('A'), isOriginKnown: false },
    });
  });

  it('belong to the first session of a chain, also if one between is not seen', () => {
    const sessions = {
      c: { rows: head },
      b: { rows: [...head, ...own('b')], origin: 'C' },
      a: { rows: [...head, ...own('b'), ...own('a')], origin: 'B' },
    };
    const ownOfB = { 'u-b': 'B', 'a-b': 'B', 'm-b:inference': 'B' };
    expect(copiesIn(sessions)).toEqual({
      B: { copied: copiedHead('C'), isOriginKnown: true },
      A: { copied: { ...copiedHead('C'), ...ownOfB }, isOriginKnown: true },
    });
    const { a, c } = sessions;
    expect(copiesIn({ c, a })).toEqual({ A: { copied: copiedHead('C'), isOriginKnown: false } });
    expect(copiesIn({ a })).toEqual({});
  });

  it('are found where all ids of records are new, by the records that they name', () => {
    const details = (messageUuid: string) => ({ forkedFrom: { sessionId: 'a', messageUuid } });
    const forked = [
      prompt('x1', 'Plan it.', details('u1')),
      answer('x2', 'm1', 'Planned.', { details: details('a1') }),
    ];
    const again = [
      prompt('y1', 'Plan it.', details('x1')),
      answer('y2', 'm1', 'Planned.', { details: details('x2') }),
    ];
    const found = copiesIn({ a: { rows: head }, b: { rows: forked }, c: { rows: again } });
    expect(found.B?.copied).toEqual({ x1: 'A', x2: 'A', 'm1:inference': 'A' });
    expect(found.C?.copied).toEqual({ y1: 'A', y2: 'A', 'm1:inference': 'A' });
  });

  it('of Claude Code 1.x are found by the place of equal records', () => {
    const old = { version: '1.0.56' };
    const rows = (n: string) => [
      prompt(`${n}1`, 'Plan it.', old),
      answer(`${n}2`, 'm1', 'Planned.', { details: old }),
    ];
    expect(copiesIn({ a: { rows: rows('p') }, b: { rows: [...rows('q'), ...own('b')] } })).toEqual({
      B: { copied: { q1: 'A', q2: 'A', 'm1:inference': 'A' }, isOriginKnown: false },
    });
  });

  it('are none in unrelated sessions whose answers have equal ids, which is reported', () => {
    const rows = (n: string) => [prompt(`${n}1`, 'Plan it.'), answer(`${n}2`, 'm1', 'Planned.')];
    expect(copiesIn({ a: { rows: rows('p') }, b: { rows: rows('q') } })).toEqual({
      B: { differing: ['m1'] },
    });
  });

  it('do not include an edited answer or prompt, which counts, nor what follows a fork of it', () => {
    const edited = [prompt('u1', 'Plan less.'), answer('a1', 'm1', 'Less.')];
    expect(copiesIn({ a: { rows: head }, b: { rows: edited, origin: 'A' } })).toEqual({
      B: { differing: ['m1'] },
    });
    const found = copiesIn({
      a: { rows: head },
      b: { rows: edited, origin: 'A' },
      c: { rows: edited, origin: 'B' },
    });
    expect(found.C?.copied).toEqual(copiedHead('B'));
  });

  it('include what differs only where it was redacted', () => {
    const rows = [prompt('u1', 'Use [REDACTED:key].'), answer('a1', 'm1', 'Planned.')];
    const plain = [prompt('u1', 'Use sk-1.'), answer('a1', 'm1', 'Planned.')];
    expect(copiesIn({ a: { rows: plain }, b: { rows, origin: 'A' } }).B?.copied).toEqual(copiedHead('A'));
  });

  it('count with the larger usage, at the origin', () => {
    const whole = [prompt('u1', 'Plan it.'), answer('a1', 'm1', 'Planned.', { tokens: 9 })];
    expect(copiesIn({ a: { rows: head }, b: { rows: whole, origin: 'A' } })).toEqual({
      A: { raised: { 'm1:inference': 9 } },
      B: { copied: copiedHead('A'), isOriginKnown: true },
    });
  });

  it('end where sessions name each other as their origins', () => {
    const found = copiesIn({ a: { rows: head, origin: 'B' }, b: { rows: head, origin: 'A' } });
    expect(found.B?.copied).toEqual(copiedHead('A'));
    expect(found.A).toBeUndefined();
  });

  it('do not include a prompt that is said again after a fork', () => {
    const again = (n: string) => prompt(`again-${n}`, 'Continue.');
    const rows = (n: string) => [...head, again(n)];
    expect(copiesIn({ a: { rows: rows('a') }, b: { rows: rows('b'), origin: 'A' } }).B?.copied).toEqual(
      copiedHead('A'),
    );
  });
});
