let latest = Number.NaN;
let latestText = '';

/** Milliseconds since 1970 as RFC 3339 in UTC with milliseconds. */
export function toTimestamp(milliseconds: number): string {
  if (milliseconds !== latest) {
    latestText = new Date(milliseconds).toISOString();
    latest = milliseconds;
  }
  return latestText;
}
