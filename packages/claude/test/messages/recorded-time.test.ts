import { describe, expect, it } from 'vitest';
import { isUtcTime, recordedTime, timestampOf } from '../../src/lines/json-fields.ts';

const dates = [
  '2026-03-01',
  '2026-02-29',
  '2024-02-29',
  '2026-13-01',
  '2026-04-31',
  '0000-01-01',
  '9999-12-30',
];
const clocks = [
  '00:00:00.000',
  '23:59:59.999',
  '24:00:00.000',
  '09:60:00.000',
  '09:30:61.000',
  '12:34:56.789',
];
const times = dates.flatMap((date) => clocks.map((clock) => `${date}T${clock}Z`));

describe('the time of a message', () => {
  it.each(times)('%s is read like a Date', (timestamp) => {
    const time = Date.parse(timestamp);
    recordedTime({ timestamp: '2026-03-01T08:00:00.000Z' });
    expect(recordedTime({ timestamp })).toBe(Number.isNaN(time) ? undefined : time);
  });

  it.each([
    ['2026-03-01T09:30:00Z', true],
    ['2026-03-01T09:30:00.5Z', true],
    ['2026-03-01T10:30:00+01:00', false],
    ['2026-03-01T09:30:00.000123Z', false],
  ])('%s is written in the format of events, whatever the format of the text', (timestamp, isSame) => {
    const time = recordedTime({ timestamp });
    expect(time).toBe(Date.parse(timestamp));
    expect(timestampOf(time ?? 0)).toBe(new Date(time ?? 0).toISOString());
    expect(isUtcTime({ timestamp })).toBe(isSame);
  });

  it.each(['2026-03-01', 'yesterday', '2026-03-01T09:30:00', ''])('%j is not a time', (timestamp) => {
    expect(recordedTime({ timestamp })).toBeUndefined();
  });
});
