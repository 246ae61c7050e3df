import { describe, expect, it } from 'vitest';
import { createTextSplitter, type PartRules } from '../../src/index.ts';

const tags: PartRules = {
  tags: {
    speak: 'chat',
    thinking: 'thinking',
    whisper: { to: 'to' },
    wait: 'action',
    vote: { action: 'VOTE' },
    b: 'text',
  },
};

/** The parts in words: `kind text`, and the faults: `kind! name`. */
function inWords(text: string, rules: PartRules = tags): string[] {
  const { parts, faults } = createTextSplitter(rules)(text);
  return [
    ...parts.map((part) => [part.kind, ...part.to.map((to) => `(${to})`), part.text.trim()].join(' ').trim()),
    ...faults.map(({ kind, name }) => `${kind}! ${name}`.trim()),
  ];
}

describe('createTextSplitter', () => {
  it.each([
    ['<thinking>a</thinking><speak>b</speak>', ['thinking a', 'chat b']],
    ['<speak>b</speak> and c', ['chat b', 'thinking and c']],
    ['<speak>a <thinking>b</thinking> c</speak>', ['chat a  c', 'thinking b']],
    ['<whisper to="Bo, Ann">a</whisper><wait/>', ['whisper (Bo) (Ann) a', 'action']],
    ['<speak>a <b>now</b> <3</speak>', ['chat a <b>now</b> <3']],
    ['<speak>a<speak>b</speak>c</speak>', ['chat ac', 'chat b']],
    ['<speak>a', ['thinking a', 'unclosed! speak']],
    ['a</thinking><speak>b</speak>', ['thinking a</thinking>', 'chat b', 'unmatched! thinking']],
    ['<speak>a <x>b</x></speak>', ['chat a', 'thinking <x>b', 'unnamed! x']],
    [
      '<speak>a <thinking b</speak>',
      [
        'thinking a',
        'thinking <thinking b</speak>',
        'unreadable! thinking',
        'unclosed! thinking',
        'unclosed! speak',
      ],
    ],
    ['<wait>', ['action']],
    ['', []],
  ])('splits %s', (text, parts) => {
    expect(inWords(text)).toEqual(parts);
  });

  it.each([
    ['{"say":"a","thought":"b"}', ['chat a', 'thinking b']],
    ['```json\n{"say":"a"}\n```', ['chat a']],
    ['{"say":"a","mood":"bad"}', ['chat a', 'thinking bad', 'unnamed! mood']],
    ['{"say":"a","say":"b"}', ['thinking {"say":"a","say":"b"}', 'doubled! say']],
    ['{"say":"{\\"thought\\":1}"}', ['thinking {"thought":1}', 'nested! say']],
    ['say a', ['thinking say a', 'unreadable!']],
  ])('splits the answer %s', (text, parts) => {
    expect(inWords(text, { fields: { say: 'chat', thought: 'thinking' } })).toEqual(parts);
  });

  it.each([
    ['Reasoning: a\nSpeech:\nb\nc', ['thinking a', 'chat b\nc']],
    ['## Speech\na\n## Plan\nb', ['chat a', 'thinking b', 'unnamed! Plan']],
    ['**Whisper to Bo:** a', ['whisper (Bo) a']],
    ['Speech: a\nNote: b', ['chat a', 'thinking b', 'unnamed! Note']],
  ])('splits the sections of %s', (text, parts) => {
    const sections = { Speech: 'chat', Reasoning: 'thinking', 'Whisper to *': 'whisper' } as const;
    expect(inWords(text, { sections })).toEqual(parts);
  });

  it.each(['<', '<speak', '</x>', '<speak><x></b>', '<whisper to="', '<say></b>', 'a:\n', '{"say":['])(
    'takes a time in proportion to a long text of %s',
    (anchor) => {
      const split = createTextSplitter(
        anchor.includes('\n')
          ? { sections: { Speech: 'chat' } }
          : anchor.startsWith('{')
            ? { fields: { say: 'chat' } }
            : tags,
      );
      const before = performance.now();
      split(anchor.repeat(300_000 / anchor.length));
      // A time that grows with the square is minutes.
      expect(performance.now() - before).toBeLessThan(3_000);
    },
  );
});
