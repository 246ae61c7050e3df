const millisecondsOfDay = 86_400_000;
const furthest = 100_000_000 * millisecondsOfDay;

let latest = Number.NaN;
let latestText = '';
let latestDay = Number.NaN;
let latestDate = '';

/** Milliseconds since 1970 as RFC 3339 in UTC with milliseconds. @throws RangeError for a value that is not a time */
export function toTimestamp(milliseconds: number): string {
  if (milliseconds !== latest) {
    latestText = timestampOf(Math.trunc(milliseconds));
    latest = milliseconds;
  }
  return latestText;
}

/** The date is cached, because most times are of the same day as the one before and computing the date is slow. */
function timestampOf(time: number): string {
  if (Math.abs(time) > furthest) throw new RangeError(`${time} is not a time.`);
  const day = Math.floor(time / millisecondsOfDay);
  if (day !== latestDay) {
    latestDate = new Date(day * millisecondsOfDay).toISOString().slice(0, -'00:00:00.000Z'.length);
    latestDay = day;
  }
  const inDay = time - day * millisecondsOfDay;
  const seconds = Math.floor(inDay / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return `${latestDate}${two(hours)}:${two(minutes % 60)}:${two(seconds % 60)}.${three(inDay % 1_000)}Z`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

function three(value: number): string {
  return value < 100 ? `0${two(value)}` : `${value}`;
}
