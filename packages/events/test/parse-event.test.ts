import { sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  eventDataSchemas,
  eventErrors,
  findNotJson,
  isEvent,
  isEventOf,
  newEvent,
  parseEvent,
} from '../src/index.ts';
import { holdsOnlyJson } from '../src/json/json.ts';

const text = { id: 'e1', type: 'agent:text', timestamp: '2026-03-01T09:30:00.000Z', data: { text: 'hello' } };

function failure(value: unknown): { code: string; message: string; details: unknown } {
  try {
    parseEvent(value);
  } catch (error) {
    if (eventErrors.is(error)) return { code: error.code, message: error.message, details: error.details };
    throw error;
  }
  throw new Error('it was accepted');
}

describe('parseEvent', () => {
  it('has a valid sample of every known type, and accepts it', () => {
    expect(Object.keys(sampleEvents).sort()).toEqual(Object.keys(eventDataSchemas).sort());
    for (const event of Object.values(sampleEvents)) expect(parseEvent(event)).toBe(event);
  });

  it('keeps an event of a type that it does not know', () => {
    const vote = {
      ...text,
      type: 'game:vote',
      data: { voter: 'Player 7', target: 'Player 4', extra: [1, { deep: null }] },
    };
    expect(parseEvent(vote)).toBe(vote);
  });

  it('keeps keys of newer versions on the event and in its data', () => {
    const newer = { ...text, v: 7, tomorrow: true, data: { text: 'hello', mood: 'calm' } };
    expect(parseEvent(newer)).toBe(newer);
  });

  it('names the path and the offending value', () => {
    expect(failure({ ...text, data: { text: 42 } })).toMatchObject({
      code: 'EVENT_INVALID',
      message: expect.stringContaining('data.text is 42'),
      details: { path: 'data.text', value: '42' },
    });
    const call = { ...sampleEvents['agent:tool_call'], data: { toolCallId: 'c1', metadata: {} } };
    expect(failure(call).message).toContain('data.tool is missing');
  });

  it.each([
    ['a date without milliseconds', { ...text, timestamp: '2026-03-01T09:30:00Z' }, 'timestamp'],
    ['a date in local time', { ...text, timestamp: '2026-03-01T09:30:00.000+02:00' }, 'timestamp'],
    ['an id with a slash', { ...text, id: 'a/b' }, 'id'],
    ['an empty id', { ...text, id: '' }, 'id'],
    ['an id of 129 characters', { ...text, id: 'x'.repeat(129) }, 'id'],
    ['a type without action', { ...text, type: 'agent' }, 'type'],
    ['a type in capitals', { ...text, type: 'Agent:Text' }, 'type'],
    ['an empty list of causes', { ...text, cause: [] }, 'cause'],
    ['data that is a list', { ...text, type: 'game:vote', data: [] }, 'data'],
    ['no data', { ...text, type: 'game:vote', data: undefined }, 'data'],
    ['null', null, '(value)'],
    ['a number', 5, '(value)'],
  ])('refuses %s', (_, value, path) => {
    expect(failure(value)).toMatchObject({ code: 'EVENT_INVALID', details: { path } });
  });

  it('describes any number of problems in a message of bounded length', () => {
    const cause = Array.from({ length: 10_000 }, () => 'no id');
    expect(failure({ ...text, cause }).message.length).toBeLessThan(2_000);
    expect(failure({ ...text, cause }).message).toContain('cause[0] is "no id"');
  });

  it('refuses an event with both substance and cause', () => {
    expect(failure({ ...text, substance: 'a', cause: 'b' }).message).toContain('both substance');
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['undefined in a list', [undefined]],
    ['a list that prints itself', Object.assign([1], { toJSON: () => 'x' })],
  ])('refuses %s inside data, which JSON would change in silence', (_, value) => {
    const call = {
      ...sampleEvents['agent:tool_call'],
      data: { toolCallId: 'c', tool: 'Bash', metadata: { deep: { value } } },
    };
    const found = failure(call);
    expect(found.code).toBe('EVENT_NOT_JSON');
    expect(found.message).toContain('data.metadata.deep.value');
    expect(failure({ ...text, type: 'game:vote', data: { value } }).code).toBe('EVENT_NOT_JSON');
  });

  it.each(['delta:text', 'delta:thinking', 'delta:tool_input', 'delta:anything'])(
    'refuses the streaming delta %s (D8)',
    (type) => {
      expect(failure({ ...text, type }).code).toBe('EVENT_EPHEMERAL');
      expect(isEvent({ ...text, type })).toBe(false);
    },
  );

  it('checks the types that a plugin adds', async () => {
    const { z } = await import('zod');
    const schemas = { ...eventDataSchemas, 'game:vote': z.object({ voter: z.string() }) };
    expect(() => parseEvent({ ...text, type: 'game:vote', data: {} }, schemas)).toThrow(
      'data.voter is missing',
    );
  });

  it('is not confused by types with names of object members', () => {
    const odd = { ...text, type: 'to:string', data: {} };
    expect(parseEvent(odd)).toBe(odd);
  });
});

describe('newEvent and isEventOf', () => {
  it('make and narrow an event of a known type', () => {
    const event = parseEvent({
      ...newEvent('agent:text', { text: 'hi' }, { agentId: 'agent_001' }),
      id: 'e',
      timestamp: text.timestamp,
    });
    expect(isEventOf(event, 'agent:text') && event.data.text).toBe('hi');
    expect(isEventOf(event, 'agent:thinking')).toBe(false);
  });
});

describe('holdsOnlyJson', () => {
  const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)]);
  const looped: Record<string, unknown> = {};
  looped.self = looped;

  it.each<[string, unknown, boolean]>([
    ['an empty object', {}, true],
    [
      'an object without a prototype',
      Object.assign(Object.create(null), { a: [null, true, 'x', 1.5] }),
      true,
    ],
    ['a key whose value is undefined', { a: undefined }, true],
    ['undefined in a list', [undefined], false],
    ['a hole in a list', new Array(1), false],
    ['Infinity', { a: { b: Number.POSITIVE_INFINITY } }, false],
    ['a symbol', Symbol('x'), false],
    ['a Date', { at: new Date(0) }, false],
    ['an object of a class', { a: new (class Place {})() }, false],
    ['an object that prints itself', { a: { toJSON: () => 1 } }, false],
    ['an inherited function', Object.create(Object.assign(Object.create(null), { f() {} })), false],
    ['the deepest nesting that is allowed', nested(1_000), true],
    ['a nesting that is too deep', nested(1_001), false],
    ['a cycle', looped, false],
  ])('agrees with findNotJson about %s', (_, value, isJson) => {
    expect(findNotJson(value) === null).toBe(isJson);
    expect(holdsOnlyJson(value)).toBe(isJson);
  });
});
