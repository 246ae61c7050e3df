/** Keys of the days, weeks and months of a time zone: `2026-03-01`, the Monday of the week, and `2026-03`. */
export interface DateKeys {
  readonly day: (at: number) => string;
  readonly week: (at: number) => string;
  readonly month: (at: number) => string;
}

export function dateKeys(zone: 'utc' | 'local'): DateKeys {
  /** By the number of the day. Many parts are of one day. */
  const days = new Map<number, string>();
  let lastAt = Number.NaN;
  let lastKey = '';
  const day = (at: number) => {
    // A quarter of an hour has a part for each model.
    if (at === lastAt) return lastKey;
    // The local time, as if it were UTC.
    const shown = zone === 'utc' ? at : at - new Date(at).getTimezoneOffset() * 60_000;
    const number = Math.floor(shown / dayMs);
    let key = days.get(number);
    if (key === undefined) {
      key = new Date(number * dayMs).toISOString().slice(0, -'T00:00:00.000Z'.length);
      days.set(number, key);
    }
    lastAt = at;
    lastKey = key;
    return key;
  };
  return {
    day,
    week: (at) => mondayOf(day(at)),
    month: (at) => day(at).slice(0, -'-01'.length),
  };
}

const dayMs = 86_400_000;

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
