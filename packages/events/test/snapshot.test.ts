import { describe, expect, it } from 'vitest';
import {
  jsonObjectSchema,
  ObservedInstance,
  PrintedForm,
  parseEvent,
  registerSnapshotType,
  reviveSnapshot,
  snapshot,
} from '../src/index.ts';
import { snapshotText } from '../src/plain.ts';
import { outputPartSchema } from '../src/types/content-part.ts';

/** A handle: it leads back to itself. */
class Connection {
  url = 'db://somewhere';
  pool = [this];
}

/** A proxy that throws on every access. */
function silent(): object {
  const no = () => {
    throw new Error('no');
  };
  return new Proxy({}, { get: no, has: no, ownKeys: no, getPrototypeOf: no, getOwnPropertyDescriptor: no });
}

function roundTrip(value: unknown): unknown {
  const part = JSON.parse(JSON.stringify(snapshot(value)));
  expect(outputPartSchema.parse(part)).toEqual(part);
  return reviveSnapshot(part);
}

describe('snapshot', () => {
  it('shows the observed value, not its later changes', () => {
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

  it.each([500, 990, 1_100, 2_000, 50_000])('of a value that nests %i deep can be recorded', (depth) => {
    let value: unknown = 'bottom';
    for (let level = 0; level < depth; level += 1) value = [value];
    const data = { parts: [snapshot(value)] };
    const event = { id: 'e', type: 'agent:output', timestamp: '2026-03-01T09:30:00.000Z', data };
    expect(parseEvent(event)).toBe(event);
  });

  it('restores a cycle as a cycle', () => {
    const node: { self?: unknown } = {};
    node.self = node;
    const back = roundTrip(node) as typeof node;
    expect(back.self).toBe(back);
  });

  it('keeps the marked printed form of a value that cannot be encoded', () => {
    const part = snapshot(new Connection());
    expect(part).toEqual({ kind: 'repr', repr: expect.stringContaining('Connection') });
    expect(reviveSnapshot(part)).toBeInstanceOf(PrintedForm);
    expect(snapshot(function doWork() {}).kind).toBe('repr');
    expect(snapshot(Symbol('s')).kind).toBe('repr');
  });

  it('keeps the rest of a value around a part that cannot be encoded', () => {
    const back = roundTrip({ rows: [1, 2], connection: new Connection() }) as {
      rows: number[];
      connection: PrintedForm;
    };
    expect(back.rows).toEqual([1, 2]);
    expect(back.connection).toBeInstanceOf(PrintedForm);
    expect(back.connection.text).toContain('db://somewhere');
  });

  it('keeps an image as an image, and restores it with its type', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    const part = snapshot({ mediaType: 'image/png', bytes: bytes.subarray(1, 4) });
    expect(part).toEqual({ kind: 'image', mediaType: 'image/png', base64: 'AQID' });
    expect(roundTrip({ mediaType: 'image/webp', bytes })).toEqual({ mediaType: 'image/webp', bytes });
    const inBuffer = roundTrip({ mediaType: 'image/png', bytes: Buffer.from([0, 1, 255]) });
    expect(inBuffer).toEqual({ mediaType: 'image/png', bytes: new Uint8Array([0, 1, 255]) });
  });

  it.each([
    ['of another media type', { mediaType: 'text/plain', bytes: new Uint8Array([1]) }],
    ['with additional keys', { mediaType: 'image/png', bytes: new Uint8Array([1]), alt: 'a dot' }],
    ['with a text for bytes', { mediaType: 'image/png', bytes: 'AQID' }],
  ])('takes for no image, and brings back, what is %s', (_, value) => {
    expect(snapshot(value).kind).not.toBe('image');
    expect(roundTrip(value)).toStrictEqual(value);
  });

  it('keeps only the observed part of a buffer', () => {
    const pool = new Uint8Array(1_000_000).fill(7);
    const part = snapshot({ seen: pool.subarray(10, 13), view: new DataView(pool.buffer, 20, 2) });
    expect(JSON.stringify(part).length).toBeLessThan(300);
    const back = reviveSnapshot(part) as { seen: Uint8Array; view: DataView };
    expect(back.seen).toEqual(new Uint8Array([7, 7, 7]));
    expect([back.view.byteLength, back.view.getUint8(1)]).toEqual([2, 7]);
    expect(roundTrip(Buffer.from('hello'))).toEqual(new Uint8Array(Buffer.from('hello')));
    expect(roundTrip(new BigInt64Array([1n, -5n]).subarray(1))).toEqual(new BigInt64Array([-5n]));
  });

  it('keeps the rest of a value around a getter that throws, with its error', () => {
    const value = {
      rows: [1, 2],
      inner: {
        get boom() {
          throw new Error('no such column');
        },
      },
    };
    const back = roundTrip(value) as { rows: number[]; inner: { boom: PrintedForm } };
    expect(back.rows).toEqual([1, 2]);
    expect(back.inner.boom).toBeInstanceOf(PrintedForm);
    expect(back.inner.boom.text).toContain('no such column');
  });

  it('reads through a proxy, and keeps the rest around one that throws on every access', () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(snapshot(new Proxy({ a: 1 }, {}))).toEqual({ kind: 'json', json: { a: 1 } });
    const back = roundTrip([1, revoked.proxy, silent()]) as unknown[];
    expect(back).toEqual([1, expect.any(PrintedForm), expect.any(PrintedForm)]);
    expect(snapshot(revoked.proxy).kind).toBe('repr');
    expect(snapshot(silent()).kind).toBe('repr');
  });

  it('keeps all of a huge value, and a short printed form of a huge object', () => {
    const long = 'x'.repeat(20_000_000);
    expect(snapshot(long)).toEqual({ kind: 'text', text: long });
    const many = new Map(Array.from({ length: 200_000 }, (_, index) => [index, `${index}`]));
    expect(roundTrip(many)).toEqual(many);
    class Rows {
      all = Array.from({ length: 200_000 }, (_, index) => ({ index }));
    }
    const part = snapshot(new Rows());
    expect(part.kind === 'repr' && part.repr.length).toBeLessThan(2_500);
  });

  it('has a printed form that is not empty, even for a value that prints as nothing', () => {
    for (const value of [(function* () {})(), [][Symbol.iterator](), Symbol()]) {
      const part = snapshot(value);
      expect(part.kind === 'repr' && part.repr).toMatch(/\w/);
    }
  });

  it('restores any combination of encodable values unchanged, independent of later changes', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const value = randomValue(seed);
      const part = snapshot(value);
      expect(reviveSnapshot(part), `seed ${seed}`).toStrictEqual(randomValue(seed));
      expect(reviveSnapshot(JSON.parse(JSON.stringify(part))), `seed ${seed}`).toStrictEqual(value);
    }
  });

  it('of a printed form is the same printed form', () => {
    expect(snapshot(new PrintedForm('[a handle]'))).toEqual({ kind: 'repr', repr: '[a handle]' });
  });

  it('never throws for any value', () => {
    class OnlyLooksLikeOne {
      get [Symbol.toStringTag](): string {
        throw new Error('no');
      }
    }
    const throwing = Object.defineProperty(() => {}, 'name', {
      get() {
        throw new Error('no');
      },
    });
    const aMap = Object.setPrototypeOf({}, Map.prototype);
    const odd = [new OnlyLooksLikeOne(), throwing, aMap, silent(), new WeakMap(), Object.create(null)];
    for (const value of [...odd, odd, Promise.resolve(), new Error('e'), globalThis]) {
      expect(jsonObjectSchema.safeParse(snapshot(value)).success).toBe(true);
    }
  });
});

describe('an observed instance of a class', () => {
  class Item {
    name: string;
    readonly #secret = 'private';
    constructor(name: string) {
      this.name = name;
    }
    shown() {
      return this.#secret;
    }
  }
  class Order {
    id = 12n;
    placed = new Date(86_400_000);
    items = [new Item('tea'), new Item('cake')];
    notes = new Map([['gift', true]]);
  }

  it('is data with the name of its class, and later changes do not affect it', () => {
    const order = new Order();
    const part = snapshot({ order, again: order });
    order.items.length = 0;
    const back = reviveSnapshot(part) as { order: ObservedInstance; again: ObservedInstance };
    expect(back.order).toBeInstanceOf(ObservedInstance);
    expect(back.again).toBe(back.order);
    expect(back.order.className).toBe('Order');
    expect(back.order.data).toEqual({
      id: 12n,
      placed: new Date(86_400_000),
      items: ['tea', 'cake'].map((name) => new ObservedInstance({ className: 'Item', data: { name } })),
      notes: new Map([['gift', true]]),
    });
  });

  it('is shown with its class and its fields', () => {
    expect(snapshotText(snapshot(new Order()))).toBe(
      'Order {"id": 12n, "placed": Date(1970-01-02T00:00:00.000Z), "items": [Item {"name": "tea"}, Item {"name": "cake"}], "notes": Map {"gift" => true}}',
    );
  });

  it('comes back the same from a second snapshot', () => {
    const part = snapshot([new Order()]);
    expect(snapshot(reviveSnapshot(part))).toEqual(part);
  });

  it('is printed where it has no field, or is cyclic, deep or huge', () => {
    class Chain {
      next: unknown;
      constructor(next: unknown) {
        this.next = next;
      }
    }
    const chain = (length: number): unknown => (length === 0 ? null : new Chain(chain(length - 1)));
    class Empty {}
    expect(snapshot(new Empty()).kind).toBe('repr');
    expect(snapshot(new Connection()).kind).toBe('repr');
    expect(snapshot(chain(8)).kind).toBe('value');
    expect(snapshot(chain(12)).kind).toBe('repr');
    expect(snapshot(new Chain(Array.from({ length: 998 }, () => ({})))).kind).toBe('value');
    expect(snapshot(new Chain(Array.from({ length: 1_000 }, () => ({})))).kind).toBe('repr');
    const around: { inner?: unknown } = {};
    around.inner = new Chain(around);
    expect((roundTrip(around) as { inner: unknown }).inner).toBeInstanceOf(PrintedForm);
  });

  it('keeps the rest around a field that throws', () => {
    const order = Object.defineProperty(new Item('tea'), 'price', {
      enumerable: true,
      get() {
        throw new Error('no price');
      },
    });
    const { data } = roundTrip(order) as { data: { name: string; price: PrintedForm } };
    expect(data.name).toBe('tea');
    expect(data.price.text).toContain('no price');
  });

  it('is copied and shown by its registered type, which can be taken back', () => {
    const takeBack = registerSnapshotType({
      name: 'Basket',
      is: (value) => value instanceof Item,
      copy: ({ name }) => ({ upper: name.toUpperCase() }),
      show: ({ name }) => `a basket of ${name}`,
    });
    const part = snapshot([new Item('tea')]);
    takeBack();
    const [back] = reviveSnapshot(part) as [ObservedInstance];
    expect(back).toEqual(
      new ObservedInstance({ className: 'Basket', data: { upper: 'TEA' }, text: 'a basket of tea' }),
    );
    expect(snapshotText(part)).toBe('[a basket of tea]');
    expect(snapshotText(snapshot([new Item('tea')]))).toBe('[Item {"name": "tea"}]');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives the instance back', (value: unknown) => ({ value })],
  ])('is printed where the function of its type %s', (_, copy) => {
    const takeBack = registerSnapshotType({ name: 'Odd', is: (value) => value instanceof Item, copy });
    expect(snapshot(new Item('tea')).kind).toBe('repr');
    takeBack();
  });
});

describe('an observed error', () => {
  class QueryError extends Error {
    override name = 'QueryError';
    code = 'E42';
    connection = new Connection();
  }

  it('comes back with its message, stack, cause and properties, also inside other values', () => {
    const cause = new TypeError('no such column');
    const error = new QueryError('the query failed', { cause });
    const [restored] = roundTrip([error]) as [QueryError];
    expect(restored).toBeInstanceOf(Error);
    expect(restored).toMatchObject({ name: 'QueryError', message: 'the query failed', code: 'E42' });
    expect(restored.stack).toBe(error.stack);
    expect(restored.cause).toBeInstanceOf(Error);
    expect(restored.cause).toMatchObject({
      name: 'TypeError',
      message: 'no such column',
      stack: cause.stack,
    });
    expect(restored.connection).toBeInstanceOf(PrintedForm);
    expect(String(roundTrip(error))).toBe('QueryError: the query failed');
  });

  it('keeps the errors of an AggregateError, and a cause that is not an error', () => {
    const both = new AggregateError([new Error('one'), new Error('other')], 'both failed');
    expect(roundTrip(both)).toMatchObject({
      name: 'AggregateError',
      errors: [{ message: 'one' }, { message: 'other' }],
    });
    expect((roundTrip(new Error('e', { cause: { status: 503 } })) as Error).cause).toEqual({ status: 503 });
    expect(Object.hasOwn(roundTrip(new Error('e')) as Error, 'cause')).toBe(false);
  });

  it('is printed if it is its own cause or a property of it throws', () => {
    const own = new Error('round and round');
    own.cause = own;
    const throwing = Object.defineProperty(new Error('e'), 'message', {
      get() {
        throw new Error('no');
      },
    });
    const restored = roundTrip([own]) as [unknown];
    expect(restored[0]).toBeInstanceOf(PrintedForm);
    expect(String((restored[0] as PrintedForm).text)).toContain('round and round');
    expect(snapshot([throwing]).kind).toBe('repr');
  });
});

/** A random value by seed: all encodable kinds, nested, with shared references and cycles. */
function randomValue(seed: number): unknown {
  let state = seed * 7_919;
  const below = (limit: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  const made: object[] = [];
  const keep = <T extends object>(value: T): T => {
    made.push(value);
    return value;
  };
  const leaves: (() => unknown)[] = [
    () => below(1_000) - 500,
    () => [Number.NaN, Number.POSITIVE_INFINITY, -0, 0.1][below(4)],
    () => ['', 'text', '\ud800 alone', '\0 </script> \u2028', '__proto__'][below(5)],
    () => [true, false, null, undefined][below(4)],
    () => BigInt(below(1_000)) ** 9n,
    () => new Date(below(2_000_000_000)),
    () => new Date(Number.NaN),
    () => /a.b/gu,
    () => new Uint8Array([below(256), below(256)]),
    () => new Float64Array([below(9) / 7, Number.NaN]).subarray(below(2)),
    () => new BigInt64Array([BigInt(below(9)) - 4n]),
    () => made[below(made.length + 1)],
  ];
  const value = (depth: number): unknown => {
    const kind = depth > 4 ? 0 : below(8);
    const size = below(4);
    const item = () => value(depth + 1);
    if (kind === 4 || kind === 5) {
      const object = keep({} as Record<string, unknown>);
      for (let index = 0; index < size; index += 1) object[`key ${index}`] = item();
      return object;
    }
    if (kind === 6) {
      const map = keep(new Map());
      for (let index = 0; index < size; index += 1) map.set(item(), item());
      return map;
    }
    if (kind === 7) {
      const list = keep([] as unknown[]);
      for (let index = 0; index < size; index += 1) list.push(item());
      return below(2) === 0 ? list : keep(new Set(list));
    }
    return leaves[below(leaves.length)]?.();
  };
  return value(0) ?? { nothing: value(1) };
}
