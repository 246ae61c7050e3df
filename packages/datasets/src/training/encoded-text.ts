/** The shortest run of Base64 that is taken for encoded bytes. Words, paths and hashes are shorter. */
const shortestRun = 1_000;
/** The same for a run after `;base64,`, as in a data URI. */
const shortestInUri = 64;
const uriMark = ';base64,';

/** Whether a text holds encoded bytes: a data URI, or a long run of Base64 with capitals, small letters and digits. */
export function holdsEncodedBytes(text: string): boolean {
  let [start, kinds] = [0, 0];
  for (let at = 0; at <= text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    kinds |= kind;
    if (kind !== 0) continue;
    const length = at - start;
    if (length >= shortestRun && (kinds & 7) === 7) return true;
    if (length >= shortestInUri && text.slice(start - uriMark.length, start) === uriMark) return true;
    [start, kinds] = [at + 1, 0];
  }
  return false;
}

/** A bit for each kind of character of Base64, with the alphabet of URLs; 0 for any other. */
function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  if (code >= 48 && code <= 57) return 4;
  return code === 43 || code === 47 || code === 45 || code === 95 ? 8 : 0;
}
