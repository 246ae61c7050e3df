import { eventErrors, parseEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventFields } from '../src/types/event.ts';

const fieldsSchema = z.object(eventFields);

const valid = {
  id: '01JNB8Z2Q0000000000000000A',
  type: 'agent:text',
  timestamp: '2026-03-01T09:30:00.000Z',
  data: { text: 'hello' },
};

function codeOf(value: unknown): string | null {
  try {
    parseEvent(value);
    return null;
  } catch (error) {
    if (eventErrors.is(error)) return error.code;
    throw error;
  }
}

const oddValues = [
  undefined,
  null,
  '',
  'ok',
  'with space',
  'a'.repeat(128),
  'a'.repeat(129),
  'ok\n',
  'Ä',
  0,
  1,
  -1,
  1.5,
  true,
  [],
  ['ok'],
  ['ok', ''],
  ['agent:text'],
  {},
  '2026-03-01T09:30:00.000Z',
  '2026-03-01T09:30:00Z',
  '2026-13-01T09:30:00.000Z',
  ' 2026-03-01T09:30:00.000Z',
  'agent:text',
  'game:turn',
  'Agent:text',
  'toString',
  'constructor',
];

describe('the fields of an event', () => {
  it.each(Object.keys(eventFields))('are accepted and refused like the schema does: %s', (field) => {
    for (const odd of oddValues) {
      const event = { ...valid, [field]: odd };
      expect([odd, codeOf(event) === null]).toEqual([odd, fieldsSchema.safeParse(event).success]);
    }
  });

  it('are refused if the value is not an object', () => {
    for (const odd of oddValues) expect(codeOf(odd)).toBe('EVENT_INVALID');
  });
});

it.each(['2026-00-10', '2026-13-10', '2026-01-00', '2026-01-32'])(
  'a day that no calendar has is refused: %s',
  (day) => {
    expect(codeOf({ ...valid, timestamp: `${day}T09:30:00.000Z` })).toBe('EVENT_INVALID');
  },
);

it.each(['2026-01-01', '2026-12-31', '2026-10-10', '0000-01-01', '9999-09-09', '2028-02-29'])(
  'a day of the calendar is accepted, and is a time: %s',
  (day) => {
    expect(codeOf({ ...valid, timestamp: `${day}T09:30:00.000Z` })).toBeNull();
    expect(Date.parse(`${day}T09:30:00.000Z`)).not.toBeNaN();
  },
);

describe('a value that JSON cannot hold', () => {
  const nested = (depth: number) => {
    let value: unknown = 'bottom';
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? { a: value } : [value];
    return value;
  };

  it('is refused if it is circular or nests deeper than other readers of JSON can read', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = [cycle];
    expect(codeOf({ ...valid, type: 'game:turn', data: cycle })).toBe('EVENT_NOT_JSON');
    expect(codeOf({ ...valid, type: 'game:turn', data: { deep: nested(1_500) } })).toBe('EVENT_NOT_JSON');
    expect(codeOf({ ...valid, type: 'game:turn', data: { deep: nested(900) } })).toBeNull();
  });

  it('is refused in a key that this version does not know', () => {
    expect(codeOf({ ...valid, newer: Number.NaN })).toBe('EVENT_NOT_JSON');
    expect(codeOf({ ...valid, newer: [1, { a: null }] })).toBeNull();
  });
});
