import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import {
  EventWords,
  foldWord,
  indexedText,
  placedWords,
  queryWords,
  splitWords,
  stringsOf,
  unsearchableKeys,
} from '../src/index.ts';

const event = (text: string): CapturedEvent => ({
  id: 'e1',
  type: 'agent:text',
  timestamp: '2026-03-01T09:00:01.000Z',
  data: { text },
});
const finds = (query: string, text: string) => new EventWords(query).areIn(event(text));

describe('splitWords', () => {
  it.each([
    ['src/main.ts, line 12', ['src', 'main', 'ts', 'line', '12']],
    ['Café O\u0308ffnung', ['Café', 'O\u0308ffnung']],
    ['हिन्दी 会議', ['हिन्दी', '会', '会議', '議']],
    ['"AND" -not* (x)', ['AND', 'not', 'x']],
    ['toolu_01AbC', ['toolu', '01AbC']],
    ['用Python3写', ['用', 'Python3', '写']],
    ['Python을', ['Python', '을']],
    ['第3章', ['第', '3', '章']],
    ['エラーです', ['エ', 'エラ', 'ラ', 'ラー', 'ー', 'で', 'です', 'す']],
    ['3D', ['3D']],
    [' … ', []],
  ])('splits %j into %j', (text, words) => {
    expect(splitWords(text).toSorted()).toEqual(words.toSorted());
  });
});

describe('a word in a script without spaces', () => {
  it.each([
    ['项目', '明天下午三点开项目评审会议讨论排期'],
    ['項', '新しい項目'],
    ['接続エラー', 'データベースの接続エラーを直して'],
    ['เสร็จ', 'ดำเนินการเสร็จสิ้นแล้ว'],
    ['ສະບາຍ', 'ຂ້ອຍສະບາຍດີ'],
    ['ភាសា', 'ខ្ញុំរៀនភាសាខ្មែរ'],
    ['youer', '修改youer服务端的计划'],
    ['服务端 YOUER', '修改youer服务端的计划'],
  ])('%s is found inside a run', (query, text) => {
    expect(finds(query, text)).toBe(true);
  });

  it.each([
    ['目项', '明天开项目'],
    ['會議', '会议'],
    ['you', '修改youer服务端'],
    ['项目', '项、目'],
  ])('%s is not found where it is not written', (query, text) => {
    expect(finds(query, text)).toBe(false);
  });
});

/** A second implementation for texts of these letters: found if every run of the query is a part of a run of the text, by its letters. */
const scripts = ['ab', '项目会议', 'エラ', 'かな', 'กขค'] as const;

function runsOf(text: string): string[] {
  const runs: string[] = [];
  let before = '';
  for (const letter of text) {
    const script = scripts.find((letters) => letters.includes(letter)) ?? '';
    if (script !== '' && script === before) runs.push(`${runs.pop() ?? ''}${letter}`);
    else if (script !== '') runs.push(letter);
    before = script;
  }
  return runs;
}

function isFound(query: string, text: string): boolean {
  const runs = runsOf(text);
  return runsOf(query).every((wanted) => {
    if (scripts[0].includes(wanted[0] ?? ' ')) return runs.includes(wanted);
    const pairs = [...wanted].slice(1).map((letter, at) => `${[...wanted][at]}${letter}`);
    return (pairs.length === 0 ? [wanted] : pairs).every((pair) => runs.some((run) => run.includes(pair)));
  });
}

describe('random texts of five scripts', () => {
  const seed = 31;
  let state = seed;
  const below = (most: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const letters = [...scripts.join(''), ' ', '。'];
  const textOf = (length: number) =>
    Array.from({ length }, () => letters[below(letters.length)] ?? ' ').join('');

  it(`are found as a second implementation says, with an index and without (seed ${seed})`, () => {
    const counts = { found: 0, not: 0 };
    for (let round = 0; round < 4_000; round += 1) {
      const text = textOf(1 + below(30));
      const query = round % 2 === 0 ? textOf(1 + below(4)) : text.slice(below(text.length), 1 + below(30));
      if (queryWords(query).length === 0) continue;
      const expected = isFound(query, text);
      counts[expected ? 'found' : 'not'] += 1;
      expect(finds(query, text), `${query} in ${text}`).toBe(expected);
      const indexed = new Set(indexedText(text).split(/[^\p{L}\p{N}\p{M}]+/u));
      const inIndex = queryWords(query).every((word) => indexed.has(word));
      expect(inIndex, `${query} in the index of ${text}`).toBe(expected);
      for (const { word, start, end } of placedWords(text)) expect(text.slice(start, end)).toBe(word);
    }
    expect(counts.found).toBeGreaterThan(500);
    expect(counts.not).toBeGreaterThan(500);
  });

  it('are split in linear time', () => {
    const long = '项a'.repeat(50_000) + 'ก'.repeat(50_000) + '1'.repeat(50_000) + '\u0301'.repeat(50_000);
    expect(splitWords(long).length).toBeGreaterThan(150_000);
  });
});

describe('indexedText', () => {
  it('returns a text without such scripts as it is', () => {
    for (const text of ['src/main.ts, line 12', 'Das Café öffnet', 'Привет, мир'])
      expect(indexedText(text)).toBe(text);
  });
});

describe('stringsOf', () => {
  const bird: CapturedEvent = {
    ...event(''),
    type: 'game:bird',
    data: { a: 'one', b: [{ c: 'two', count: 3 }, null, 'three'], signature: 'zebra' },
  };

  it('returns every string in the data, at any depth and in order', () => {
    expect(stringsOf(bird)).toEqual(['one', 'two', 'three', 'zebra']);
  });

  it('leaves out the keys that it is given', () => {
    expect(stringsOf(bird, new Set(['signature', 'c']))).toEqual(['one', 'three']);
  });

  it('finds the ids of calls, but no encoded bytes', () => {
    expect(unsearchableKeys.has('toolCallId')).toBe(false);
    expect(new EventWords('toolu_01AbC').areIn({ ...bird, data: { toolCallId: 'toolu_01AbC' } })).toBe(true);
    expect(new EventWords('zebra').areIn(bird)).toBe(false);
    expect(foldWord('ÉCOLE')).toBe('ecole');
  });
});
