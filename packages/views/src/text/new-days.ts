const dayLength = 'YYYY-MM-DD'.length;

/**
 * For each timestamp its day (UTC) if it differs from that of the timestamp before, otherwise ''. If all are of one day, all
 * are '', because the times of day are enough.
 */
export function newDays(timestamps: readonly string[]): readonly string[] {
  const days = timestamps.map((timestamp) => timestamp.slice(0, dayLength));
  const isOneDay = days.every((day) => day === days[0]);
  return days.map((day, index) => (isOneDay || day === days[index - 1] ? '' : day));
}
