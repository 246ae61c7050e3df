import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import type { ReaderRow } from '../src/answers.ts';
import { heightOf, movedTo, placeOf, rowHeight, rowsInView, ScrollPlace } from '../src/page/scroll-place.ts';
import { RowOrder } from '../src/row-order.ts';

const height = 840;
const views = [0, 1, 10, 333_333, 333_334, 1_000_000, 50_000_000].map((count) => ({
  count,
  height,
  last: Math.max(0, count - rowsInView({ height })),
}));

it.each(views)('$count rows: the first and the last row are at the ends of the scroll bar', (view) => {
  expect(placeOf(0, view)).toEqual({ top: 0, scrollTop: 0, rest: 0 });
  const end = placeOf(view.count, view);
  expect(end.top).toBe(view.last);
  const bottom = Math.max(0, heightOf(view) - view.height);
  expect(Math.abs(end.scrollTop - bottom)).toBeLessThan(rowHeight);
  expect(heightOf(view)).toBeLessThanOrEqual(8_000_000);
});

it.each(views)(
  '$count rows: a turn of the wheel moves by as many rows as pixels say, in any steps',
  (view) => {
    const random = randomFrom(7);
    let place = placeOf(view.count / 2, view);
    const [start, began] = [place.scrollTop, place.top];
    for (let turn = 0; turn < 500; turn += 1) {
      const pixels = (random() - 0.4) * 90;
      const move = movedTo(place.scrollTop + pixels, place, view);
      if (!('rows' in move)) throw new Error('A short move is one by rows.');
      expect(Math.abs(move.rest)).toBeLessThan(rowHeight);
      place = { top: place.top + move.rows, scrollTop: place.scrollTop + pixels, rest: move.rest };
      expect(Math.abs((place.top - began) * rowHeight - (place.scrollTop - start))).toBeLessThan(rowHeight);
    }
  },
);

it.each(views)('$count rows: the thumb reaches every part, in order', (view) => {
  const bottom = Math.max(0, heightOf(view) - view.height);
  let before = -1;
  for (let part = 0; part <= 20; part += 1) {
    const move = movedTo((bottom * part) / 20, { top: 0, scrollTop: -10_000, rest: 0 }, view);
    if (!('top' in move)) throw new Error('A long move goes to a place.');
    expect(move.top).toBeGreaterThanOrEqual(before);
    before = move.top;
  }
  expect(before).toBe(view.last);
});

it('takes the late event of a scroll bar that was put elsewhere for no movement', () => {
  const order = new RowOrder<ReaderRow>();
  order.count = 10_000;
  const scroll = new ScrollPlace(order, () => {});
  scroll.height = 600;
  scroll.place = scroll.jumped(4_000);
  scroll.seen = scroll.place.scrollTop;
  // More rows came before the browser said where the scroll bar is.
  scroll.place = scroll.jumped(4_100);
  expect(scroll.isMovement(scroll.seen)).toBe(false);
  expect(scroll.isMovement(scroll.place.scrollTop)).toBe(false);
  expect(scroll.isMovement(scroll.place.scrollTop - 240)).toBe(true);
});
