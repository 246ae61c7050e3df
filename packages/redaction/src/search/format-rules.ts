/** A kind of secret with a form of its own. */
export interface SecretFormat {
  readonly kind: string;
  /** Of these one is a part of every text in which the format occurs. */
  readonly anchors: readonly string[];
  /** Global. Takes linear time. Its group `secret`, or else the whole match, is the secret. */
  readonly expression: RegExp;
  /** Absent: every match is a secret. */
  readonly accepts?: (secret: string) => boolean;
}

export type Check = (secret: string) => boolean;

type Anchors = string | readonly string[];

export function format(kind: string, anchors: Anchors, source: string, accepts?: Check): SecretFormat {
  return {
    kind,
    anchors: typeof anchors === 'string' ? [anchors] : anchors,
    expression: new RegExp(source, 'g'),
    ...(accepts === undefined ? {} : { accepts }),
  };
}

/**
 * Where a word begins: after another character, or after what stands for one and ends with a letter or a digit. This is a line end or a tab in
 * a JSON text, a colour of a terminal, or a percent-encoded character.
 */
export const wordStart =
  '(?:(?<![A-Za-z0-9_-])|(?<=\\\\(?:[nrtbf]|u[0-9a-fA-F]{4})|\\[[0-9;]{0,20}[A-Za-z]|%[0-9A-Fa-f]{2}))';

/** A token of a prefix and a body, which is not a part of a longer word. `also`: characters of the body beside those of a word. */
export function token(
  kind: string,
  anchors: Anchors,
  source: string,
  accepts?: Check,
  also = '',
): SecretFormat {
  return format(kind, anchors, `${wordStart}${source}(?![A-Za-z0-9_${also}-])`, accepts);
}

export const hasLetterAndDigit: Check = (secret) => /[A-Za-z]/.test(secret) && /[0-9]/.test(secret);
export const isNoExample: Check = (secret) => !secret.includes('EXAMPLE');

/** Documentation and templates write these in the place of a password. */
const placeholder =
  /^(?:x{3}|\.{3}|(?:your|my)?[-_]?(?:password|passwd|pass|pwd|secret|token|redacted)$|\$?[{(].*[)}]$|\[.*\]$|%\w+%$|%(?:\(\w+\))?[a-z]$|\*+$)/i;
/** Such as `$DB_PASSWORD_2` and `$password`: a password that begins with `$` has digits between letters. */
const variable = /^\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+[0-9]{0,2})$/;
export const isNoPlaceholder: Check = (secret) => !placeholder.test(secret) && !variable.test(secret);

/** Values that stand for a secret, or name where it is: variables, templates, paths, URLs, examples. */
const reference =
  /^[$<{%[*./~]|:\/\/|\$\{|\{\{|(?:example|changeme|placeholder|redacted|your[-_]|dummy|sample)/i;
/** Random characters have more bits each than words and repetitions. */
const leastBits = 3.2;
/** A random text of letters and digits alternates between them; a name with a year or a version does not. */
const leastChanges = 4;
/** The share of the characters of a random text at which small letters, capitals and digits alternate. Of words in camel case it is about a third. */
const leastMixture = 0.5;

/**
 * Whether a value looks random: at least 3.2 bits of entropy for each character, and letters and digits that alternate four times, or small
 * letters, capitals and digits that alternate at half of the characters.
 */
export function isRandom(value: string): boolean {
  if (reference.test(value)) return false;
  const isMixed = changesOf(value, isDigit) >= leastChanges || mixtureOf(value) >= leastMixture;
  return isMixed && entropy(value) >= leastBits;
}

/**
 * Whether the value of a key that names a password is one: at least eight characters with a letter and a digit, that alternate three times, or
 * beside a character that is neither. The password of a person is shorter and less random than a token.
 */
export function isPassword(value: string): boolean {
  if (value.length < 8 || !hasLetterAndDigit(value)) return false;
  if (reference.test(value) || !isNoPlaceholder(value)) return false;
  return changesOf(value, isDigit) >= 3 || /[^A-Za-z0-9_.\-/:]/.test(value);
}

/** How often neighbours differ in what is asked of them. */
function changesOf(value: string, classOf: (code: number) => unknown): number {
  let changes = 0;
  for (let at = 1; at < value.length; at += 1)
    if (classOf(value.charCodeAt(at)) !== classOf(value.charCodeAt(at - 1))) changes += 1;
  return changes;
}

/** Zero for a text of fewer than three of the classes, such as a word or a hexadecimal number. */
function mixtureOf(value: string): number {
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value) || !/[0-9]/.test(value)) return 0;
  return changesOf(value, classOf) / value.length;
}

function classOf(code: number): number {
  if (isDigit(code)) return 0;
  return code >= 65 && code <= 90 ? 1 : 2;
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
