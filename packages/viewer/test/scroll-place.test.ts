import { describe, expect, it } from 'vitest';
import { RowOrder } from '../src/page/row-order.ts';
import { ScrollPlace } from '../src/page/scroll-place.ts';

function scrollOf(count: number): ScrollPlace {
  const order = new RowOrder();
  order.count = count;
  const scroll = new ScrollPlace(order, () => {});
  scroll.height = 480;
  scroll.place = scroll.jumped(0);
  return scroll;
}

describe('the scroll bar', () => {
  it('is not taken for moved by the reader when the page put it there, even after another jump', () => {
    const scroll = scrollOf(10_000);
    const aligned = scroll.jumped(5_000);
    scroll.place = aligned;
    // The browser rounds to its own pixels.
    const put = Math.floor(aligned.scrollTop * 2) / 2;
    scroll.put(put);
    scroll.place = scroll.jumped(9_980);
    expect(scroll.isMovedTo(put)).toBe(false);
    expect(scroll.isMovedTo(aligned.scrollTop + 24)).toBe(true);
  });

  it('is moved by the reader to where the page once put it, after it was elsewhere', () => {
    const scroll = scrollOf(10_000);
    scroll.put(2_400);
    scroll.place = { ...scroll.jumped(100), scrollTop: 2_400 };
    expect(scroll.isMovedTo(2_448)).toBe(true);
    scroll.place = scroll.moved(2_448);
    expect(scroll.isMovedTo(2_400)).toBe(true);
    scroll.place = scroll.moved(2_400);
    expect(scroll.place.top).toBe(100);
    scroll.close();
  });
});
