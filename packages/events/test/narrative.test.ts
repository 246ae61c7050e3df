import { narrativeCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { narrowBy } from '../src/fidelity/narrative.ts';
import { type NarrativeRules, narrativeRules as rules } from '../src/fidelity/narrative-fields.ts';
import { eventDataSchemas, isEvent, type NewEvent, toNarrative } from '../src/index.ts';

const seed = 15;
const { events, secret, kept } = narrativeCanaries(seed, 8);

const wordsIn = (value: unknown) => JSON.stringify(value).match(/(?:SECRET|KEPT)_\d+_\d+_/g) ?? [];

function judge(narrow: (event: NewEvent) => NewEvent) {
  const words = new Set(events.flatMap((event) => wordsIn(narrow(event))));
  return { leaked: secret.filter((word) => words.has(word)), lost: kept.filter((word) => !words.has(word)) };
}

describe(`a narrative of events with a secret in every private field (seed ${seed})`, () => {
  it('holds none of them, and everything that is listed as kept', () => {
    expect(secret.length).toBeGreaterThan(1_000);
    expect(kept.length).toBeGreaterThan(800);
    for (const type of Object.keys(eventDataSchemas))
      expect(events.some((event) => event.type === type)).toBe(true);
    expect(judge(toNarrative)).toEqual({ leaked: [], lost: [] });
  });

  it('has valid events, which count what they lack', () => {
    for (const event of events) {
      const narrowed = toNarrative(event);
      expect(isEvent(event), event.type).toBe(true);
      expect(isEvent(narrowed), event.type).toBe(true);
      const isSecret = wordsIn(event).some((word) => word.startsWith('SECRET'));
      const counts = Object.values(narrowed.data.leftOut ?? {});
      expect(counts.length > 0, event.type).toBe(isSecret);
      for (const count of counts) expect(count).toBeGreaterThan(0);
    }
  });

  it('changes nothing when it is made again', () => {
    for (const event of events) {
      const narrowed = toNarrative(event);
      expect(toNarrative(narrowed)).toBe(narrowed);
    }
  });
});

describe('a narrative', () => {
  it('counts the missing characters of each field', () => {
    const data = { toolCallId: 'c1', tool: 'Bash', metadata: { command: 'cat <<X\nab' }, input: { a: 'b' } };
    expect(toNarrative({ type: 'agent:tool_call', data }).data).toEqual({
      toolCallId: 'c1',
      tool: 'Bash',
      metadata: { command: 'cat <<X' },
      leftOut: { command: 3, input: 9 },
    });
  });

  it('adds to the counts of an event that was narrowed before, but keeps nothing else under that name', () => {
    const narrow = (data: NewEvent['data']) => toNarrative({ type: 'game:vote', data }).data;
    expect(narrow({ leftOut: { input: 9 }, input: 'abc', by: 'P1' })).toEqual({
      by: 'P1',
      leftOut: { input: 12 },
    });
    expect(narrow({ leftOut: ['abc'] })).toEqual({ leftOut: { other: 7 } });
    expect(narrow({ leftOut: { 'a key of many words': 1 } })).toEqual({ leftOut: { other: 25 } });
  });

  it('returns an event without private fields unchanged', () => {
    const event = { type: 'agent:text', data: { text: 'Hello.\nHow are you?' } } as const;
    expect(toNarrative(event)).toBe(event);
  });

  it('keeps a key named __proto__ as a key', () => {
    const data = JSON.parse('{"__proto__":{"stdout":"SECRET"},"constructor":"c"}') as NewEvent['data'];
    const narrowed = toNarrative({ type: 'game:x', data });
    expect(JSON.stringify(narrowed.data)).toBe('{"__proto__":{},"constructor":"c","leftOut":{"stdout":6}}');
  });
});

describe('a narrative of texts for the model', () => {
  const said = (type: string, data: NewEvent['data']) => toNarrative({ type, data } as NewEvent).data;

  it('has the first line of what the engine or a hook wrote, and all that anybody else did', () => {
    const text = 'Base directory: /skills/tidy\n\n# Tidy\nPut things away.';
    for (const type of ['user:message', 'agent:given', 'agent:undelivered'])
      expect(said(type, { text, source: { kind: 'system', hook: 'h' } }), type).toMatchObject({
        text: 'Base directory: /skills/tidy',
        leftOut: { text: 25 },
      });
    for (const source of [{ kind: 'user' }, { kind: 'external', what: 'service' }])
      expect(said('user:message', { text, source }).text).toBe(text);
  });

  it('has blocks of code and quotations of a summary up to 200 characters in all, and each other line', () => {
    const code = Array.from({ length: 10 }, (_, at) => `const value${at} = compute(${at});`);
    const short = ['Fixed:', '```ts', 'a();', '```', '> one line', 'Done.'].join('\n');
    expect(said('session:compaction', { summary: short }).summary).toBe(short);
    const long = ['Fixed:', '  ~~~ts', ...code, '```', '  ~~~', 'Next:', '> later', '```', ...code].join(
      '\n',
    );
    const { summary, leftOut } = said('session:compaction', { summary: long }) as {
      summary: string;
      leftOut: object;
    };
    expect(summary.split('\n')).toEqual([
      'Fixed:',
      '  ~~~ts',
      ...code.slice(0, 7),
      '[…]',
      '  ~~~',
      'Next:',
      '[…]',
      '```',
      '[…]',
    ]);
    expect(said('session:compaction', { summary, leftOut: { ...leftOut } })).toEqual({ summary, leftOut });
  });
});

const withType = (type: string, fields: Record<string, 'whole' | 'short'>): NarrativeRules => {
  const own = rules.ofType[type] ?? rules.ofCaptured[type] ?? rules.ofOthers;
  return { ...rules, ofType: { ...rules.ofType, [type]: { ...own, fields: { ...own.fields, ...fields } } } };
};
const without = (set: ReadonlySet<string>, name: string) => new Set([...set].filter((one) => one !== name));

const mutants: Readonly<Record<string, NarrativeRules>> = {
  'the input of a call': withType('agent:tool_call', { input: 'whole' }),
  'the output of a result': withType('agent:tool_result', { output: 'short' }),
  'more than a line of a target': withType('harness:loop_kill', { target: 'whole' }),
  'all of an error': withType('agent:tool_result', { error: 'whole' }),
  'what an agent observed': withType('agent:output', { parts: 'whole' }),
  'the text of any decision': withType('harness:hook_decision', { text: 'whole' }),
  'metadata as it is': withType('agent:tool_call', { metadata: 'whole' }),
  'all of a message of the engine': withType('agent:undelivered', { text: 'whole' }),
  'a message with output of commands': withType('user:message', { text: 'whole' }),
  'the prompt of a task': withType('system:task_started', { prompt: 'short' }),
  'the replay of an inference': withType('agent:inference', { replay: 'whole' }),
  'all of a stack': withType('harness:error', { stack: 'whole' }),
  'the content of a notice': withType('system:notice', { raw: 'whole' }),
  ...Object.fromEntries(
    ['stdout', 'hookErrors', 'toolUseResult', 'snippet', 'prompt'].map((name) => [
      `a nested ${name}`,
      { ...rules, contentFields: without(rules.contentFields, name) },
    ]),
  ),
  'the fields of attachments': { ...rules, objects: without(rules.objects, 'attachment') },
  'the texts of recalled memories': withType('system:memory_recall', { memories: 'whole' }),
  'fields that no type lists': { ...rules, ofAll: { ...rules.ofAll, unlisted: 'whole' } },
  'details as they are': { ...rules, ofAll: { ...rules.ofAll, details: 'whole' } },
  'unknown types as they are': withType('system:kind_of_tomorrow', {
    long: 'whole',
    two: 'whole',
    details: 'whole',
  }),
};

describe('a rule that keeps too much', () => {
  it.each(Object.keys(mutants))('is found by a secret: %s', (name) => {
    expect(judge(narrowBy(mutants[name] ?? rules)).leaked).not.toEqual([]);
  });

  it('or too little is found by what is missing', () => {
    const fewer = { ...rules, ofType: { ...rules.ofType, 'agent:text': { fields: {} } } };
    expect(judge(narrowBy(fewer)).lost).not.toEqual([]);
  });
});
