import { expect, it } from 'vitest';
import type { OpenFile } from '../src/lines/open-file.ts';
import { PositionIndex } from '../src/lines/position-index.ts';
import { readEventPage } from '../src/lines/read-events.ts';

it('a page after the last event of a log is empty, and reads nothing of its file', () => {
  const file = new Proxy({} as OpenFile, {
    get: (_, name) => {
      throw new Error(`the file is used: ${String(name)}`);
    },
  });
  const range = { file, start: 100, seed: 0, end: 900, count: 5 };
  expect(readEventPage(range, new PositionIndex(), { after: 4 })).toEqual({ events: [], first: 5, next: 4 });
  expect(() => readEventPage(range, new PositionIndex(), { after: 3 })).toThrow('the file is used');
});
