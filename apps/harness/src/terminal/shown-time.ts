import { timeInZone } from '@hansard/facts';
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
