import { timeInZone, timeNotRecorded } from '@hansard/facts';
import type { CliContext } from './context.ts';

/** A time as people read it: with the local offset, or in UTC. */
export function shownTime({ zone }: Pick<CliContext, 'zone'>, timestamp: string): string;
export function shownTime({ zone }: Pick<CliContext, 'zone'>, timestamp: string | null): string | null;
export function shownTime({ zone }: Pick<CliContext, 'zone'>, timestamp: string | null): string | null {
  return timeInZone(timestamp, zone);
}

/** An event or a row at the time that people read. */
export function atShownTime<Timed extends { readonly timestamp: string | null }>(
  { zone }: Pick<CliContext, 'zone'>,
  timed: Timed,
): Timed {
  return zone === 'utc' ? timed : { ...timed, timestamp: timeInZone(timed.timestamp, zone) };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** From this age on, a date says more. */
const longAgoMs = 14 * dayMs;

/** How long ago a time is, such as `2 h ago`; its date if that is long; with `--utc` the time itself. Null: not recorded. */
export function ago(context: Pick<CliContext, 'zone' | 'now'>, timestamp: string | null): string {
  if (timestamp === null) return timeNotRecorded;
  const shown = shownTime(context, timestamp);
  if (context.zone === 'utc') return `${shown.slice(0, 10)} ${shown.slice(11, 16)}`;
  const age = (context.now ?? Date.now)() - Date.parse(timestamp);
  if (age >= longAgoMs || age < -minuteMs) return shown.slice(0, 10);
  if (age < minuteMs) return 'now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min ago`;
  if (age < dayMs) return `${Math.floor(age / hourMs)} h ago`;
  return `${Math.floor(age / dayMs)} d ago`;
}
