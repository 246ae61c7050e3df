import { expect, it } from 'vitest';
import type { SessionTime, Span } from '../src/answers.ts';
import { endOf, firstFrom, lanesOf, ShownTime } from '../src/page/time/shown-time.ts';

const minute = 60_000;
const span = (start: number, durationMs: number | null, more: Partial<Span> = {}): Span => ({
  position: start,
  kind: 'call',
  agentId: '',
  start,
  durationMs,
  text: '',
  isFailed: false,
  ...more,
});
const sessionOf = (spans: readonly Span[]): SessionTime => ({
  ...{ first: 0, end: 0, calls: [], tools: [], isCut: false },
  agents: [
    { id: '', name: '' },
    { id: 'a', name: 'Ada' },
  ],
  spans,
});

it('puts calls that overlap on rows of their own, and model calls beside them', () => {
  const spans = [
    span(0, 10),
    span(5, 10),
    span(10, 1),
    span(12, null),
    span(0, 4, { kind: 'model' }),
    span(3, 1, { agentId: 'a' }),
    span(9, 0, { kind: 'prompt' }),
  ];
  const { lanes, left } = lanesOf(sessionOf(spans));
  expect(lanes.map(({ agent, kind, spans: own }) => [agent, kind, own.map(({ start }) => start)])).toEqual([
    ['', 'model', [0]],
    ['', 'call', [0, 10, 12]],
    ['', 'call', [5]],
    ['Ada', 'call', [3]],
  ]);
  expect(left).toBe(0);
  expect(lanesOf(sessionOf(Array.from({ length: 20 }, (_, at) => span(at, 1_000)))).left).toBe(12);
});

it('shortens gaps, and finds each time again where it is shown', () => {
  const spans = [span(0, minute), span(10 * minute, minute), span(10.5 * minute, minute)];
  const whole = new ShownTime(spans, false);
  expect([whole.total, whole.idleMs, whole.gaps.length]).toEqual([11.5 * minute, 9 * minute, 1]);
  const shortened = new ShownTime(spans, true);
  expect(shortened.total).toBeLessThan(3 * minute);
  for (const shown of [whole, shortened]) {
    let last = -1;
    for (const time of [0, 0.5, 1, 5, 9.9, 10, 11, 11.5].map((minutes) => minutes * minute)) {
      const place = shown.of(time);
      expect(place).toBeGreaterThan(last);
      last = place;
      // Within a gap no time is exact.
      if (time <= minute || time >= 10 * minute) expect(shown.at(place)).toBeCloseTo(time, 3);
    }
    expect(last).toBeCloseTo(shown.total, 3);
  }
  const nothing = new ShownTime([], true);
  expect([nothing.total, nothing.of(5), nothing.at(5)]).toEqual([1, 0, 0]);
});

it('finds the first span of a row from a time, whatever the times are', () => {
  let seed = 3;
  const random = (most: number) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % most;
  };
  const spans: Span[] = [];
  for (let at = 0, time = 0; at < 300; at += 1) {
    time += random(5);
    spans.push(span(time, random(4) === 0 ? null : random(9)));
    time = endOf(spans.at(-1) as Span);
  }
  for (let time = -2; time < endOf(spans.at(-1) as Span) + 3; time += 1) {
    const expected = spans.findIndex((one) => endOf(one) >= time);
    expect(firstFrom(spans, time)).toBe(expected === -1 ? spans.length : expected);
  }
});
