/** How a time without a date or a zone is read. */
export interface TimeReading {
  /** The day of a time without a date: any time of that day, as a dispatch has it in `startedAt`. Null: there is none to read. */
  readonly day: string | null;
  /** The zone of a time without `Z` or an offset. Absent: `utc`, as listings print times. */
  readonly zone?: 'utc' | 'local';
}

/** A time as a person writes it, which is as long as its last unit: `15:04` is a minute. */
export interface Instant {
  /** Its first millisecond since 1970. */
  readonly from: number;
  /** Its last millisecond. */
  readonly to: number;
}

const written =
  /^(?:(\d{4})-(\d{2})-(\d{2}))?(T)?(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * Reads `15:04`, `15:04:05`, `15:04:05.678`, `2026-11-23` and `2026-11-23T15:04`, with or without `Z` or an offset such as
 * `+02:00`. Null for any other text, and for a time that does not exist, such as 25:00.
 */
export function parseInstant(text: string, { day, zone = 'utc' }: TimeReading): Instant | null {
  const found = written.exec(text);
  if (found === null) return null;
  const [, year, month, date, separator, hour, minute, second, fraction, offset] = found;
  const hasDay = year !== undefined;
  const hasTime = hour !== undefined;
  if (!hasDay && (!hasTime || day === null)) return null;
  if ((separator !== undefined) !== (hasDay && hasTime)) return null;
  const place = offset === undefined ? zone : minutesOf(offset);
  if (place === null) return null;
  const ownDay = hasDay ? [Number(year), Number(month), Number(date)] : dayOf(Date.parse(day ?? ''), place);
  const [ownYear = 0, ownMonth = 0, ownDate = 0] = ownDay;
  const milliseconds = Number((fraction ?? '').padEnd(3, '0'));
  const time = [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0), milliseconds] as const;
  if (time[0] > 23 || time[1] > 59 || time[2] > 59) return null;
  const from = timeOf([ownYear, ownMonth, ownDate, ...time], place);
  if (Number.isNaN(from)) return null;
  const [sameYear, sameMonth, sameDate] = dayOf(from, place);
  if (sameYear !== ownYear || sameMonth !== ownMonth || sameDate !== ownDate) return null;
  if (!hasTime) return { from, to: timeOf([ownYear, ownMonth, ownDate + 1, 0, 0, 0, 0], place) - 1 };
  return { from, to: from + lengthOf(second, fraction) - 1 };
}

/** A time limit is relative to `now`, in milliseconds since 1970. */
export interface LimitReading extends TimeReading {
  readonly now: number;
}

const daysAgo: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', 1],
]);
const unitMs = { h: 3_600_000, m: 60_000 } as const;

/**
 * Reads a limit such as `--since`: any time that `parseInstant` reads, or a time before now. `today`, `yesterday`, `7d` and
 * `2w` are whole days of the zone; `12h` and `30m` are times.
 */
export function parseTimeLimit(text: string, reading: LimitReading): Instant | null {
  const { now, zone = 'utc' } = reading;
  const [, count, unit] = /^(\d{1,5})([dwhm])$/.exec(text) ?? [];
  if (unit === 'h' || unit === 'm') {
    const from = now - Number(count) * unitMs[unit];
    return { from, to: from };
  }
  const days = count === undefined ? daysAgo.get(text) : Number(count) * (unit === 'w' ? 7 : 1);
  if (days === undefined) return parseInstant(text, reading);
  const [year, month, date] = dayOf(now, zone);
  return {
    from: timeOf([year, month, date - days, 0, 0, 0, 0], zone),
    to: timeOf([year, month, date - days + 1, 0, 0, 0, 0], zone) - 1,
  };
}

/** The length of the last unit of a time of day, in milliseconds. */
function lengthOf(second: string | undefined, fraction: string | undefined): number {
  if (second === undefined) return 60_000;
  return fraction === undefined ? 1_000 : 10 ** (3 - fraction.length);
}

/** A zone, or the minutes that its clocks are ahead of UTC. */
type Place = 'utc' | 'local' | number;

function minutesOf(offset: string): number | null {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4));
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function dayOf(time: number, place: Place): [year: number, month: number, date: number] {
  if (place === 'local') {
    const local = new Date(time);
    return [local.getFullYear(), local.getMonth() + 1, local.getDate()];
  }
  const shifted = new Date(time + aheadOf(place));
  return [shifted.getUTCFullYear(), shifted.getUTCMonth() + 1, shifted.getUTCDate()];
}

type Fields = readonly [
  year: number,
  month: number,
  date: number,
  hour: number,
  minute: number,
  second: number,
  milliseconds: number,
];

function timeOf([year, month, ...rest]: Fields, place: Place): number {
  if (place === 'local') return new Date(year, month - 1, ...rest).getTime();
  return Date.UTC(year, month - 1, ...rest) - aheadOf(place);
}

function aheadOf(place: 'utc' | number): number {
  return place === 'utc' ? 0 : place * 60_000;
}
