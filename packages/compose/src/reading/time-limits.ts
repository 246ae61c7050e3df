import { parseTimeLimit } from '@hansard/views';
import { harnessErrors } from '../harness-errors.ts';

/** How times are read and written. */
export interface ReadingClock {
  /** The zone of a time without one. Absent: `local`. */
  readonly zone?: 'utc' | 'local';
  /** Milliseconds since 1970. Absent: the time of the system. */
  readonly now?: () => number;
}

/** Limits of time, as a person writes them. */
export interface RequestedTimes {
  readonly since?: string;
  readonly until?: string;
}

/** Milliseconds since 1970, both included. Absent: unlimited. */
interface TimeLimits {
  readonly since?: number;
  readonly until?: number;
}

/**
 * The limits that words name. `day`: the day of a time without a date; null refuses such a time.
 * @throws HARNESS_OPTION_INVALID for a text that is not a time
 */
export function timeLimitsOf(
  clock: ReadingClock,
  { since, until }: RequestedTimes,
  day: string | null,
): TimeLimits {
  return {
    ...(since !== undefined && { since: limit(clock, '--since', since, day).from }),
    ...(until !== undefined && { until: limit(clock, '--until', until, day).to }),
  };
}

function limit(
  { zone = 'local', now = Date.now }: ReadingClock,
  option: string,
  text: string,
  day: string | null,
) {
  const isRefused = day === null && /^@?\d{1,2}:/.test(text);
  const reading = { day: day ?? '1970-01-01T00:00:00.000Z', zone, now: now() };
  const found = isRefused ? null : parseTimeLimit(text.replace(/^@/, ''), reading);
  if (found !== null) return found;
  const time = day === null ? '' : '15:04, 15:04:05, ';
  throw harnessErrors.error(
    'HARNESS_OPTION_INVALID',
    `${option} ${JSON.stringify(text)} is not a time${day === null ? ' with a date' : ''}.`,
    {
      advice: `Give a time such as ${time}2026-03-01, 2026-03-01T15:04, today, yesterday, 7d, 2w or 12h. Times are local; --utc or an offset such as +02:00 changes that.`,
    },
  );
}
