import { type CapturedEvent, newEvent, parseEvent } from '@hansard/events';
import { expect, it } from 'vitest';
import { cutText, recentEventsText } from '../src/create-dispatch-tools.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** The same numbers for the same seed (mulberry32). */
function randomOf(state: number): (below: number) => number {
  let current = state;
  return (below) => {
    current = (current + 0x6d2b79f5) | 0;
    let t = Math.imul(current ^ (current >>> 15), 1 | current);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const pieces = [
  'word ',
  '\n',
  '😀',
  'é',
  '\u0000',
  '\u001b[2J',
  '\u2028',
  'x'.repeat(40),
  '[9 older events left out]',
];

function eventsFrom(random: (below: number) => number): CapturedEvent[] {
  return Array.from({ length: random(30) }, (_, index) => {
    const text = Array.from({ length: random(60) }, () => pieces[random(pieces.length)]).join('');
    const event = newEvent('agent:text', { text: `#${index} ${text}` });
    return parseEvent({ ...event, id: `e${index}`, timestamp: '2026-03-01T09:00:00.000Z' });
  });
}

it(`events stay within their limits, newest kept, whole lines, and the omission is reported (HANSARD_SEED=${seed})`, () => {
  const random = randomOf(seed);
  for (let round = 0; round < 300; round += 1) {
    const events = eventsFrom(random);
    const limits = { perEvent: 60 + random(200), inAll: 300 + random(1_500) };
    const text = recentEventsText(events, limits);
    expect(text.length).toBeLessThanOrEqual(limits.inAll);
    expect(text.isWellFormed()).toBe(true);
    const lines = text === '' ? [] : text.split('\n');
    const leftOut = Number(/^\[(\d+) older events? left out\]$/.exec(lines[0] ?? '')?.[1] ?? 0);
    const shown = leftOut === 0 ? lines : lines.slice(1);
    expect(shown).toHaveLength(events.length - leftOut);
    for (const [index, line] of shown.entries()) {
      expect(line.length).toBeLessThanOrEqual(limits.perEvent);
      expect(line).toMatch(new RegExp(`^09:00:00 text #${leftOut + index}(?: |$)`));
    }
    if (events.length > 0) expect(shown.length).toBeGreaterThan(0);
  }
});

it(`a cut text says exactly how much is missing (HANSARD_SEED=${seed})`, () => {
  const random = randomOf(seed);
  for (let round = 0; round < 500; round += 1) {
    const text = Array.from({ length: random(200) }, () => pieces[random(pieces.length)]).join('');
    const limit = 40 + random(400);
    const short = cutText(text, limit);
    expect(short.length).toBeLessThanOrEqual(Math.max(limit, 40));
    if (text.length <= limit) expect(short).toBe(text);
    else {
      const [, kept = '', cut] = /^(.*) \[(\d+) characters cut\]$/s.exec(short) ?? [];
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length + Number(cut)).toBe(text.length);
      expect(kept.isWellFormed()).toBe(true);
    }
  }
});
