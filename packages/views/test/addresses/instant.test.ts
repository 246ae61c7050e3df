import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseInstant, type TimeReading } from '../../src/addresses/instant.ts';
import { parseTimeLimit } from '../../src/index.ts';

const day = '2026-03-01T23:30:00.000Z';

function times(text: string, clock: TimeReading = { day }) {
  const instant = parseInstant(text, clock);
  return instant === null ? null : [instant.from, instant.to].map((time) => new Date(time).toISOString());
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a time as a person writes it', () => {
  it.each([
    ['15:04', '2026-03-01T15:04:00.000Z', '2026-03-01T15:04:59.999Z'],
    ['9:05:07', '2026-03-01T09:05:07.000Z', '2026-03-01T09:05:07.999Z'],
    ['15:04:05.6', '2026-03-01T15:04:05.600Z', '2026-03-01T15:04:05.699Z'],
    ['2026-02-28', '2026-02-28T00:00:00.000Z', '2026-02-28T23:59:59.999Z'],
    ['2026-12-31T23:59', '2026-12-31T23:59:00.000Z', '2026-12-31T23:59:59.999Z'],
    ['2026-03-02T00:30:00.123+01:00', '2026-03-01T23:30:00.123Z', '2026-03-01T23:30:00.123Z'],
    // In this zone the dispatch begins on the next day.
    ['00:45+01:00', '2026-03-01T23:45:00.000Z', '2026-03-01T23:45:59.999Z'],
    ['15:04Z', '2026-03-01T15:04:00.000Z', '2026-03-01T15:04:59.999Z'],
  ])('%s is as long as its last unit', (text, from, to) => {
    expect(times(text)).toEqual([from, to]);
  });

  it.each(['', '15', '24:00', '15:60', '15:04:60', '2026-02-30', '2026-13-01', '2026-03-01 15:04'])(
    '%j is refused',
    (text) => expect(times(text)).toBeNull(),
  );

  it.each(['T15:04', '2026-03-01T', '2026-03-0115:04', 'Z', '15:04+25:00', 'yesterday'])(
    '%j is refused',
    (text) => expect(times(text)).toBeNull(),
  );

  it('is on the local day of the dispatch if the zone is local, including when the clocks change', () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    const local: TimeReading = { day: '2026-03-28T23:30:00.000Z', zone: 'local' };
    expect(times('01:15', local)).toEqual(['2026-03-29T00:15:00.000Z', '2026-03-29T00:15:59.999Z']);
    expect(times('15:04', local)).toEqual(['2026-03-29T13:04:00.000Z', '2026-03-29T13:04:59.999Z']);
    expect(times('2026-03-29', local)).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z']);
  });
});

describe('a time limit before now', () => {
  const now = Date.parse('2026-03-30T10:15:00.000Z');
  const limits = (text: string, zone: 'utc' | 'local') => {
    const instant = parseTimeLimit(text, { day, now, zone });
    return instant === null ? null : [instant.from, instant.to].map((time) => new Date(time).toISOString());
  };

  it.each([
    ['today', '2026-03-30T00:00:00.000Z', '2026-03-30T23:59:59.999Z'],
    ['yesterday', '2026-03-29T00:00:00.000Z', '2026-03-29T23:59:59.999Z'],
    ['0d', '2026-03-30T00:00:00.000Z', '2026-03-30T23:59:59.999Z'],
    ['7d', '2026-03-23T00:00:00.000Z', '2026-03-23T23:59:59.999Z'],
    ['2w', '2026-03-16T00:00:00.000Z', '2026-03-16T23:59:59.999Z'],
    ['12h', '2026-03-29T22:15:00.000Z', '2026-03-29T22:15:00.000Z'],
    ['90m', '2026-03-30T08:45:00.000Z', '2026-03-30T08:45:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
    ['15:04', '2026-03-01T15:04:00.000Z', '2026-03-01T15:04:59.999Z'],
  ])('%s is read', (text, from, to) => expect(limits(text, 'utc')).toEqual([from, to]));

  it.each(['d', '-1d', '1.5d', '7 d', '1y', 'tomorrow', 'Yesterday', '123456d', 'toString', '999999w'])(
    '%j is refused',
    (text) => expect(limits(text, 'utc')).toBeNull(),
  );

  it('has the days of the zone, including days of 23 and 25 hours, and days that begin at 01:00', () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(limits('yesterday', 'local')).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z']);
    vi.stubEnv('TZ', 'Asia/Kathmandu');
    expect(limits('today', 'local')).toEqual(['2026-03-29T18:15:00.000Z', '2026-03-30T18:14:59.999Z']);
    // Clocks go from 00:00 to 01:00 there.
    vi.stubEnv('TZ', 'Asia/Beirut');
    expect(limits('yesterday', 'local')).toEqual(['2026-03-28T22:00:00.000Z', '2026-03-29T20:59:59.999Z']);
  });
});
