import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { heightOf, lastTop, placeOf, rowHeight, rowsInView, scrolledTo } from '../src/page/scroll-map.ts';

const views = [0, 1, 10, 333_333, 333_334, 1_000_000, 50_000_000].map((count) => ({ count, height: 840 }));

it.each(views)('$count rows: the first and the last row are at the ends of the scroll bar', (view) => {
  expect(placeOf(0, view)).toEqual({ top: 0, scrollTop: 0 });
  const end = placeOf(view.count, view);
  expect(end.top).toBe(Math.max(0, view.count - rowsInView(view)));
  const bottom = Math.max(0, heightOf(view) - view.height);
  expect(Math.abs(end.scrollTop - bottom)).toBeLessThan(rowHeight);
  expect(heightOf(view)).toBeLessThanOrEqual(8_000_000);
});

it.each(views)('$count rows: a turn of the wheel moves by as many rows as pixels say', (view) => {
  const random = randomFrom(7);
  let place = placeOf(view.count / 2, view);
  for (let turn = 0; turn < 200; turn += 1) {
    const rows = Math.round((random() - 0.5) * 60);
    const expected = Math.max(0, Math.min(lastTop(view), place.top + rows));
    const moved = scrolledTo(place.scrollTop + rows * rowHeight, place, view);
    if (moved.scrollTop < 0 || Math.abs(rows * rowHeight) > view.height) continue;
    expect(moved.top).toBe(expected);
    place = moved;
  }
});

it.each(views)('$count rows: the thumb reaches every part, in order', (view) => {
  const bottom = Math.max(0, heightOf(view) - view.height);
  let before = -1;
  for (let part = 0; part <= 20; part += 1) {
    const { top } = scrolledTo((bottom * part) / 20, { top: 0, scrollTop: -10_000 }, view);
    expect(top).toBeGreaterThanOrEqual(before);
    before = top;
  }
  expect(before).toBe(lastTop(view));
});
