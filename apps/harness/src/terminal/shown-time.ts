import type { CliContext } from './context.ts';

/** A time as people read it: unchanged in UTC, otherwise with the local offset at that time, such as `2026-11-23T16:04:05.678+02:00`. */
export function shownTime({ zone }: Pick<CliContext, 'zone'>, timestamp: string): string {
  if (zone === 'utc') return timestamp;
  const time = new Date(timestamp);
  // Minutes that local clocks are behind UTC.
  const behind = time.getTimezoneOffset();
  if (behind === 0) return timestamp;
  const local = new Date(time.getTime() - behind * 60_000).toISOString().slice(0, -1);
  const minutes = Math.abs(behind);
  const two = (count: number) => String(count).padStart(2, '0');
  return `${local}${behind > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** An event or a row at the time that people read. */
export function atShownTime<Timed extends { readonly timestamp: string }>(
  context: Pick<CliContext, 'zone'>,
  timed: Timed,
): Timed {
  return context.zone === 'utc' ? timed : { ...timed, timestamp: shownTime(context, timed.timestamp) };
}
