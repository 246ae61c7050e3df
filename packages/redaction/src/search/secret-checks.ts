const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/**
 * Whether the last six characters are the CRC-32 of the random part before them, in base 62: the tokens of GitHub and
 * npm. The prefix up to `_` is not a part of it.
 */
export function hasBase62Checksum(token: string): boolean {
  const body = token.slice(token.indexOf('_') + 1);
  let checksum = 0;
  for (const digit of body.slice(-checksumLength)) checksum = checksum * 62 + base62.indexOf(digit);
  return checksum === crc32(body.slice(0, -checksumLength));
}

/** The CRC-32 of a short ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Values that stand for a secret, or name where it is: variables, templates, paths, URLs, examples. */
const reference =
  /^[$<{%[*./~]|:\/\/|\$\{|\{\{|(?:example|changeme|placeholder|redacted|your[-_]|dummy|sample)/i;
/** Random characters have more bits each than words and repetitions. */
const leastBits = 3.2;
/** A random text of letters and digits alternates between them; a name with a year or a version does not. */
const leastChanges = 4;

/** Whether a value looks random: letters and digits that alternate, and at least 3.2 bits of entropy for each character. */
export function isRandom(value: string): boolean {
  if (reference.test(value)) return false;
  let changes = 0;
  for (let at = 1; at < value.length; at += 1)
    if (isDigit(value.charCodeAt(at)) !== isDigit(value.charCodeAt(at - 1))) changes += 1;
  return changes >= leastChanges && entropy(value) >= leastBits;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Shannon's entropy of the characters, in bits for each. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
