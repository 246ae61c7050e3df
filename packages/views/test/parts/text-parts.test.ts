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

  it.each([
    ['<thinking>a</thinking>\n<speak>b</speak><wait/>', '<speak>b</speak><wait/>'],
    ['a <speak>b <thinking>c</thinking><b>d</b></speak> e', '<speak>b <b>d</b></speak>'],
    ['<whisper to="Bo">a <plan>b</plan></whisper>', '<whisper to="Bo">a </whisper>'],
    ['<speak>a <whisper to="Bo">b</whisper> c', '<whisper to="Bo">b</whisper>'],
    ['a</thinking><speak>b</speak>', '<speak>b</speak>'],
    ['<wait> a', '<wait>'],
    ['a <thinking>b', ''],
  ])('keeps the form of %s without its thoughts', (text, without) => {
    expect(createTextSplitter(tags)(text).withoutThoughts).toBe(without);
  });

  it.each([
    ['{"thought":"a","say":"b"}', '{"say":"b"}'],
    ['{"say":"b"}', '{"say":"b"}'],
    ['```json\n{\n  "say": "b", "mood": 1\n}\n```', '```json\n{\n  "say": "b"\n}\n```'],
    ['Hm.\n{"say":["b", {"a":1}]}', '{"say":["b"]}'],
    ['{"whisper":{"to":"Bo","message":"a","why":"b"}}', '{"whisper":{"to":"Bo","message":"a"}}'],
    ['{"thought":"a"}', ''],
    ['say a', ''],
  ])('keeps the form of the answer %s without its thoughts', (text, without) => {
    const fields = { say: 'chat', thought: 'thinking', whisper: { to: 'to' } } as const;
    expect(createTextSplitter({ fields })(text).withoutThoughts).toBe(without);
  });

  it('keeps the sections of a text without those of thoughts, with their headings', () => {
    const split = createTextSplitter({ sections: { Speech: 'chat', Reasoning: 'thinking', Pass: 'action' } });
    const text = 'Hm.\nReasoning: a\n## Speech\nb\n## Plan\nc\nPass:';
    expect(split(text).withoutThoughts).toBe('## Speech\nb\nPass:');
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
      void split(anchor.repeat(300_000 / anchor.length)).withoutThoughts;
      // A time that grows with the square is minutes.
      expect(performance.now() - before).toBeLessThan(3_000);
    },
  );
});
