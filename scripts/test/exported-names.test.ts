import { expect, it } from 'vitest';
import { namesExportedTwice } from '../exported-names.ts';

it('no two packages export different things under one name', () => {
  expect(namesExportedTwice()).toEqual([]);
});
