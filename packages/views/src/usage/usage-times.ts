/** Keys of the days, weeks and months of a time zone: `2026-03-01`, the Monday of the week, and `2026-03`. */
export interface DateKeys {
  readonly day: (at: number) => string;
  readonly week: (at: number) => string;
  readonly month: (at: number) => string;
}

export function dateKeys(zone: 'utc' | 'local'): DateKeys {
  const days = new Map<number, string>();
  /** Parts of many dispatches are of one quarter of an hour. */
  const day = (at: number) => {
    const key = days.get(at) ?? dayOf(at, zone);
    days.set(at, key);
    return key;
  };
  return {
    day,
    week: (at) => mondayOf(day(at)),
    month: (at) => day(at).slice(0, -'-01'.length),
  };
}

function dayOf(at: number, zone: 'utc' | 'local'): string {
  const time = new Date(at);
  // The fields of the local time, as if they were of UTC.
  const shown = zone === 'utc' ? time : new Date(at - time.getTimezoneOffset() * 60_000);
  return shown.toISOString().slice(0, -'T00:00:00.000Z'.length);
}

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00.000Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, -'T00:00:00.000Z'.length);
}

const hourMs = 3_600_000;
/** The length of a block of a Claude subscription. */
export const blockMs = 5 * hourMs;

/**
 * The beginnings of five-hour blocks, by the times that they contain. A block begins at the full hour (UTC) of the first use
 * after the block before.
 */
export function usageBlocks(times: Iterable<number>): ReadonlyMap<number, number> {
  const blocks = new Map<number, number>();
  let start = -Infinity;
  for (const time of [...new Set(times)].sort((one, other) => one - other)) {
    if (time >= start + blockMs) start = Math.floor(time / hourMs) * hourMs;
    blocks.set(time, start);
  }
  return blocks;
}
