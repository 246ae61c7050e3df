import { describe, expect, expectTypeOf, it } from 'vitest';
import { definedOnly } from '../src/index.ts';

describe('definedOnly', () => {
  it('leaves out undefined, and keeps null, false, 0 and an empty text', () => {
    const values = { a: undefined, b: null, c: false, d: 0, e: '', f: 'x' };
    expect(definedOnly(values)).toStrictEqual({ b: null, c: false, d: 0, e: '', f: 'x' });
    expect(Object.keys(values)).toHaveLength(6);
  });

  it('has a type that exactOptionalPropertyTypes accepts', () => {
    const reason = undefined as string | undefined;
    const made: { readonly id: string; readonly reason?: string } = definedOnly({ id: 'a', reason });
    expect(made).toStrictEqual({ id: 'a' });
    expectTypeOf(definedOnly({ id: 'a', reason })).toEqualTypeOf<{ id: string } & { reason?: string }>();
  });
});
