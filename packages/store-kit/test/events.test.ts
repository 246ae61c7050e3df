import { describe, expect, it } from 'vitest';
import { hasSameContent } from '../src/index.ts';

describe('hasSameContent', () => {
  it('is true of equal values, even with their keys in another order', () => {
    expect(hasSameContent('{"a":1,"b":[2]}', '{"b":[2],"a":1}')).toBe(true);
  });

  it('is false of other values', () => {
    expect(hasSameContent('{"a":1}', '{"a":1,"b":null}')).toBe(false);
    expect(hasSameContent('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false);
  });
});
