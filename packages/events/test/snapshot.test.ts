import { describe, expect, it } from 'vitest';
import {
  jsonObjectSchema,
  outputPartSchema,
  PrintedForm,
  parseEvent,
  reviveSnapshot,
  snapshot,
} from '../src/index.ts';

class Connection {
  url = 'db://somewhere';
}

function roundTrip(value: unknown): unknown {
  const part = JSON.parse(JSON.stringify(snapshot(value)));
  expect(outputPartSchema.parse(part)).toEqual(part);
  return reviveSnapshot(part);
}

describe('snapshot', () => {
  it('shows what was observed, not what became of it', () => {
    const list = [1, 2];
    const map = new Map([['list', list]]);
    const parts = [snapshot(list), snapshot(map)];
    list.push(3);
    expect(parts.map(reviveSnapshot)).toEqual([[1, 2], new Map([['list', [1, 2]]])]);
  });

  it('keeps text as text and JSON as JSON, readable in the log', () => {
    expect(snapshot('hello')).toEqual({ kind: 'text', text: 'hello' });
    expect(snapshot({ a: [1, null, 'x'] })).toEqual({ kind: 'json', json: { a: [1, null, 'x'] } });
  });

  it.each([
    ['a Map and a Set', new Map<unknown, unknown>([['s', new Set([1, 'a'])]])],
    ['a Date', new Date(86_400_000)],
    ['a bigint', 12345678901234567890n],
    ['typed arrays', new Float64Array([1.5, Number.NaN])],
    ['bytes', new Uint8Array([0, 255])],
    ['NaN', Number.NaN],
    ['-0', -0],
    ['undefined in an object', { a: undefined }],
    ['a list with a hole', Object.assign([], { 0: 1, 2: 3 })],
    [
      'the same object twice',
      (() => {
        const shared = { a: 1 };
        return [shared, shared];
      })(),
    ],
  ])('brings %s back as it was', (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  it.each([500, 990, 1_100, 2_000, 50_000])('of what nests %i deep can be recorded', (depth) => {
    let value: unknown = 'bottom';
    for (let level = 0; level < depth; level += 1) value = [value];
    const data = { parts: [snapshot(value)] };
    const event = { id: 'e', type: 'agent:output', timestamp: '2026-03-01T09:30:00.000Z', data };
    expect(parseEvent(event)).toBe(event);
  });

  it('brings a cycle back as a cycle', () => {
    const node: { self?: unknown } = {};
    node.self = node;
    const back = roundTrip(node) as typeof node;
    expect(back.self).toBe(back);
  });

  it('keeps the printed form of what cannot be encoded, marked', () => {
    const part = snapshot(new Connection());
    expect(part).toEqual({ kind: 'repr', repr: expect.stringContaining('Connection') });
    expect(reviveSnapshot(part)).toBeInstanceOf(PrintedForm);
    expect(snapshot(function doWork() {}).kind).toBe('repr');
    expect(snapshot(Symbol('s')).kind).toBe('repr');
  });

  it('keeps the rest of a value around what cannot be encoded', () => {
    const back = roundTrip({ rows: [1, 2], connection: new Connection() }) as {
      rows: number[];
      connection: PrintedForm;
    };
    expect(back.rows).toEqual([1, 2]);
    expect(back.connection).toBeInstanceOf(PrintedForm);
    expect(back.connection.text).toContain('db://somewhere');
  });

  it('gives an image back as its bytes', () => {
    expect(reviveSnapshot({ kind: 'image', mediaType: 'image/png', base64: 'AAH/' })).toEqual(
      new Uint8Array([0, 1, 255]),
    );
  });

  it('never throws, whatever it is given', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no');
        },
      },
    );
    const throwing = {
      get boom() {
        throw new Error('no');
      },
    };
    for (const value of [hostile, throwing, new WeakMap(), Promise.resolve(), Object.create(null)]) {
      expect(jsonObjectSchema.safeParse(snapshot(value)).success).toBe(true);
    }
  });
});
