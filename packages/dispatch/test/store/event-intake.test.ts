import {
  encodeEvent,
  eventDataSchemas,
  eventErrors,
  eventFieldsSchema,
  findNotJson,
  inLineOrder,
  jsonObjectSchema,
  type NewEvent,
} from '@hansard/events';
import { ManualClock, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { copyJson } from '../../src/intake/copy-json.ts';
import { EventIntake } from '../../src/intake/event-intake.ts';

const intake = new EventIntake({
  clock: new ManualClock(),
  createId: () => 'minted',
  schemas: undefined,
  redaction: null,
  onDiagnostic: () => {},
});

/** What the schemas alone say of an event: its line, or the code of what is amiss. */
function judge(event: NewEvent): string {
  const minted = inLineOrder({
    ...event,
    id: event.id ?? 'minted',
    timestamp:
      event.timestamp === undefined ? new Date(new ManualClock().now()).toISOString() : event.timestamp,
  });
  if (typeof minted.type === 'string' && minted.type.startsWith('delta:')) return 'EVENT_EPHEMERAL';
  if (!eventFieldsSchema.safeParse(minted).success) return 'EVENT_INVALID';
  if (minted.substance !== undefined && minted.cause !== undefined) return 'EVENT_INVALID';
  const schemas: Readonly<Record<string, typeof jsonObjectSchema>> = { ...eventDataSchemas } as never;
  const schema = Object.hasOwn(schemas, minted.type) ? schemas[minted.type] : undefined;
  const { success } = (schema ?? jsonObjectSchema).safeParse(minted.data);
  if (findNotJson(minted) !== null) return 'EVENT_NOT_JSON';
  if (!success) return 'EVENT_INVALID';
  return encodeEvent(copyJson(minted));
}

function outcome(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return eventErrors.is(error) ? error.code : `thrown: ${String(error)}`;
  }
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};
const cycle: { self?: unknown } = {};
cycle.self = cycle;

/** Values that tempt a check to be wrong; each is made anew. */
const nasty: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => -0,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -1,
  () => 1.5,
  () => 2 ** 60,
  () => '',
  () => 'a b',
  () => 'x'.repeat(129),
  () => '\ud800',
  () => true,
  () => 7n,
  () => Symbol('s'),
  () => () => 1,
  () => new Date(0),
  () => new Map(),
  () => new String('boxed'),
  () => new (class Own {})(),
  () => Object.create(null),
  () => Object.assign(Object.create(null), { a: [1] }),
  () => Object.create({ inherited: 1 }),
  () => JSON.parse('{"__proto__": {"toJSON": 1}, "constructor": null}'),
  () => ({ toJSON: () => 1 }),
  () => ({ toJSON: 'a word' }),
  () => Object.defineProperty({}, 'toJSON', { value: () => 1 }),
  () => Object.defineProperty({ a: 1 }, 'hidden', { value: () => 1 }),
  () => Object.assign([1], { toJSON: () => 1 }),
  () => Object.assign([1], { extra: () => 1 }),
  () => new (class List extends Array {})(3),
  () => [],
  () => new Array(3).fill(1, 1),
  () => [undefined],
  () => ['a', { b: undefined, c: [null] }],
  () => ({ a: undefined, b: { c: undefined } }),
  () => ({ [Symbol('key')]: () => 1 }),
  () => Object.freeze({ a: Object.freeze([1]), gone: undefined }),
  () => ({
    get a() {
      return 'got';
    },
  }),
  () => ({
    get a() {
      throw new Error('no');
    },
  }),
  () => new Proxy({ a: [1] }, {}),
  () => new Proxy([1, { b: 2 }], {}),
  () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('shut');
        },
      },
    ),
  () => cycle,
  () => nested(500),
  () => nested(997),
  () => nested(998),
  () => nested(999),
  () => nested(1_000),
  () => nested(1_001),
  () => ({ kind: 'user' }),
  () => ({ inputTokens: 1, outputTokens: 2, turns: -1 }),
];

const keys = [
  'a',
  'text',
  'details',
  'metadata',
  'input',
  'toJSON',
  '__proto__',
  'usage',
  'source',
  'length',
];

/** A valid event with up to three of its values changed, added or taken away. */
function randomEvent(random: () => number): NewEvent {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const event = structuredClone(pick(Object.values(sampleEvents))) as unknown as Record<string, unknown>;
  if (random() < 0.2)
    event.type = pick(['game:vote', 'system:my_own', 'Bad', 'delta:text', 'agent:constructor']);
  const planted = new Set<unknown>();
  for (let changes = Math.floor(random() * 4); changes > 0; changes -= 1) {
    let place = event;
    while (random() < 0.75) {
      const children = Object.values(place).filter(
        (value) => !planted.has(value) && value?.constructor === Object,
      );
      if (children.length === 0) break;
      place = pick(children) as Record<string, unknown>;
    }
    const fields = [
      'id',
      'timestamp',
      'agentId',
      'messageId',
      'substance',
      'cause',
      'via',
      'v',
      'type',
      'data',
      'new',
    ];
    const there = [...Object.keys(place), ...(place === event ? fields : keys)];
    const value = pick(nasty)();
    planted.add(value);
    Object.defineProperty(place, pick(there), {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return event as unknown as NewEvent;
}

describe('the intake of events', () => {
  it('accepts and refuses the same events as the schemas', () => {
    const seeds =
      process.env.HANSARD_SEED === undefined ? [1, 2, 3, 4, 5] : [Number(process.env.HANSARD_SEED)];
    for (const seed of seeds) {
      const random = randomFrom(seed);
      const counts = { taken: 0, refused: 0 };
      for (let round = 0; round < 2_000; round += 1) {
        const event = randomEvent(random);
        const expected = outcome(() => judge(event));
        const actual = outcome(() => encodeEvent(intake.take(event)));
        expect(actual, `HANSARD_SEED=${seed}, round ${round}`).toBe(expected);
        counts[expected.startsWith('{') ? 'taken' : 'refused'] += 1;
      }
      expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(300);
    }
  });

  it('keeps a copy, however deep, and does not change the input', () => {
    const data = { text: 'a', details: { list: [{ deep: [1] }], gone: undefined } };
    const taken = intake.take({ type: 'agent:text', data });
    data.details.list[0]?.deep.push(2);
    expect(taken.data).toEqual({ text: 'a', details: { list: [{ deep: [1] }] } });
    expect(Object.keys(data.details)).toEqual(['list', 'gone']);
  });

  it('keeps the value that it has checked, even if a getter returns another one later', () => {
    let reads = 0;
    const details = Object.defineProperty({}, 'answer', {
      enumerable: true,
      get: () => (reads++ === 0 ? 'yes' : () => 'no'),
    });
    const taken = intake.take({ type: 'agent:text', data: { text: 'a', details } } as unknown as NewEvent);
    expect(taken.data.details).toEqual({ answer: 'yes' });
  });
});
