const dayLength = 'YYYY-MM-DD'.length;

/**
 * For each timestamp its day (UTC) where that is another than the one before it, else ''. Where all are of one day, nothing:
 * times of day say enough then.
 */
export function newDays(timestamps: readonly string[]): readonly string[] {
  const days = timestamps.map((timestamp) => timestamp.slice(0, dayLength));
  const isOneDay = days.every((day) => day === days[0]);
  return days.map((day, index) => (isOneDay || day === days[index - 1] ? '' : day));
}
