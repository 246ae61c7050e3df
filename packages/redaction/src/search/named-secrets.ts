import type { Anchored } from './anchor-scan.ts';
import { isPassword, isRandom } from './format-rules.ts';
import { isEncodedPair } from './secret-formats.ts';
import type { SecretRange } from './secret-search.ts';

/** What the value of a key can be: a password of a person, a random token, or a name and a password in Base64. */
export type NamedKind = 'password' | 'token' | 'pair';

/** The ends of the words that name a secret. Behind a password, and in capitals, a space can follow: of the others only behind a dash. */
const ends = [
  ...[
    'ecret',
    'ecrets',
    'key',
    'Key',
    'oken',
    'auth',
    'Auth',
    'pass',
    'Pass',
    'edential',
    'edentials',
    'psk',
    'pwd',
    'Pwd',
  ],
];
const passwordEnds = ['ssword', 'sswd', 'ssphrase', 'sscode'];
const capitalEnds = [
  'SSWORD',
  'SSWD',
  'SSPHRASE',
  'ECRET',
  'PWD',
  'KEY',
  'OKEN',
  'AUTH',
  'PASS',
  'EDENTIALS',
  'PSK',
];
const spaced = ['-key ', '_key ', '-token ', '_token ', '-secret ', '_secret '];
const next = '=:"\'\\>`%(]_0123456789\r\n';

/** Of these one is a part of every text in which a key names a secret. */
export const namedAnchors: Anchored['anchors'] = [
  ...ends.map((end) => [end, next] as const),
  ...[...passwordEnds, ...capitalEnds].map((end) => [end, `${next} `] as const),
  ...ends.flatMap((end) => [`${end} =`, `${end} :`, `${end}  `]),
  ...spaced,
];

/** The end of a key, with a number behind it. */
const keyEnd =
  /(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|tokens?|key(?:_base)?|auth|credentials?|psk)(?:_?[0-9]{1,2})?(?=[=:"'\\ >`%(\]\r\n])/gi;

/** Before `key` these words name a secret. `publicKey`, `cacheKey` and `primaryKey` name none. */
const secretOfKey = new Set([
  ...['api', 'access', 'secret', 'private', 'encryption', 'signing', 'master', 'account', 'subscription'],
  ...[
    'shared',
    'auth',
    'admin',
    'service',
    'deploy',
    'jwt',
    'storage',
    'license',
    'cipher',
    'crypto',
    'webhook',
  ],
  ...[
    'preshared',
    'hmac',
    'aes',
    'ssh',
    'client',
    'app',
    'application',
    'personal',
    'write',
    'function',
    'root',
  ],
]);
/** Before `KEY` of a variable these words name none. */
const publicOfKey = new Set([
  ...[
    'public',
    'publishable',
    'cache',
    'primary',
    'foreign',
    'partition',
    'sort',
    'idempotency',
    'site',
    'object',
  ],
  ...[
    'lookup',
    'group',
    'index',
    'hash',
    'row',
    'map',
    'unique',
    'restore',
    'anon',
    'kms',
    'gpg',
    'host',
    'dedupe',
  ],
  ...[
    'translation',
    'message',
    'registry',
    'hkey',
    'issue',
    'project',
    'sonar',
    'query',
    'event',
    'config',
    'feature',
  ],
]);
/** Before `token` these words name a place in a list, or a word of a language model. */
const publicOfToken = new Set([
  ...[
    'page',
    'next',
    'continuation',
    'cancel',
    'cancellation',
    'cursor',
    'sync',
    'pagination',
    'list',
    'resume',
  ],
  ...[
    'start',
    'end',
    'eos',
    'bos',
    'pad',
    'mask',
    'stop',
    'unk',
    'sep',
    'special',
    'delta',
    'change',
    'nextpage',
  ],
]);
const joinedPassword = /(?:password|passwd|passphrase|passcode|pwd)$/;
const joinedToken =
  /(?:secret|(?:api|access|secret|private|signing|encryption|master|shared|account)key|(?:auth|access|refresh|bot|session|api|bearer|id|web|deploy)token)$/;

const mostKinds = 2_000;
const kinds = new Map<string, NamedKind | null>();

/** What the value of a key can be. Null: the key names no secret. */
export function namedKind(key: string): NamedKind | null {
  if (key.length > 100 || !/pass|pwd|secret|token|key|auth|credential|psk/i.test(key)) return null;
  const known = kinds.get(key);
  if (known !== undefined) return known;
  if (kinds.size >= mostKinds) kinds.clear();
  const kind = kindOf(key);
  kinds.set(key, kind);
  return kind;
}

function kindOf(key: string): NamedKind | null {
  const words = wordsOf(key);
  const last = words.at(-1) ?? '';
  const before = words.at(-2);
  if (joinedPassword.test(last) || last === 'psk') return 'password';
  if (last === 'pass') return before !== undefined || key === 'pass' || key === 'PASS' ? 'password' : null;
  if (joinedToken.test(last) || last === 'secrets' || last.startsWith('credential')) return 'token';
  if (last === 'token') return publicOfToken.has(before ?? '') ? null : 'token';
  if (last === 'auth') return 'pair';
  if (last === 'base') return key.toLowerCase().endsWith('secret_key_base') ? 'token' : null;
  if (last !== 'key') return null;
  const isVariable = /^[A-Z0-9_]+_KEY(?:_?[0-9]{1,2})?$/.test(key);
  if (before === undefined) return null;
  return secretOfKey.has(before) || (isVariable && !publicOfKey.has(before)) ? 'token' : null;
}

function wordsOf(key: string): string[] {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  if (/^[0-9]{1,2}$/.test(words.at(-1) ?? '')) words.pop();
  const last = words.pop();
  return last === undefined ? [] : [...words, last.replace(/[0-9]{1,2}$/, '')];
}

const shortest: Readonly<Record<NamedKind, number>> = { password: 8, token: 12, pair: 12 };
const longest = 4_096;

/** Whether a value is the secret that its key names. */
export function isNamedValue(value: string, kind: NamedKind): boolean {
  if (value.length < shortest[kind] || value.length > longest) return false;
  if (value.includes('[REDACTED:') || /\s/.test(value)) return false;
  if (kind === 'pair') return isEncodedPair(value);
  return (value.length >= 12 && isRandom(value)) || (kind === 'password' && isPassword(value));
}

/**
 * The values of keys that name a secret, in the syntaxes of environment files, shells, YAML, TOML, JSON, XML, HTTP headers, URLs, programs and
 * the files of npm, Docker, Kubernetes and netrc.
 */
export function namedSecrets(text: string): SecretRange[] {
  const ranges: SecretRange[] = [];
  keyEnd.lastIndex = 0;
  for (let found = keyEnd.exec(text); found !== null; found = keyEnd.exec(text)) {
    const range = secretAt(text, found.index, keyEnd.lastIndex);
    if (range === null) continue;
    ranges.push({ ...range, kind: 'secret-value' });
    keyEnd.lastIndex = range.end;
  }
  return ranges;
}

interface Value {
  readonly start: number;
  readonly end: number;
}

function secretAt(text: string, at: number, end: number): { start: number; end: number } | null {
  const start = keyStart(text, at);
  const key = text.slice(start, end);
  const kind = namedKind(key.replace(/^[-.$]+/, ''));
  if (kind === null) return null;
  const value = elementAt(text, start, end) ?? assignedAt(text, start, end, key);
  if (value === null) return null;
  return isNamedValue(text.slice(value.start, value.end), kind) ? value : null;
}

/** A key has at most 64 characters. After an escape of JSON, or a percent-encoded character, it begins behind it. */
function keyStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < 64 && /[\w.$-]/.test(text[start - 1] as string)) start -= 1;
  if (text[start - 1] === '\\' && /[nrt]/.test(text[start] as string)) return Math.min(start + 1, at);
  return text[start - 1] === '%' ? Math.min(start + 2, at) : start;
}

/** What stands between a key and its value: each pattern, at the end of the key, is one syntax. */
const assignment =
  /(?:\\{0,7}["'`])?\]?[ \t]{0,8}(?::[ \t]*(?:string|str|String)[ \t]*=(?![=>~])|=>|:=|\?=|=(?![=~])|:(?!:)|%3[ADad])[ \t]{0,8}(?:\\\\?n[ \t]{1,20})?/y;
const named =
  /(?:\\{0,7}["'`])?[ \t]{0,4}(?:,|(?:\r?\n|\\{1,3}n)[ \t]*(?:\+[ \t]*)?)?[ \t\r\n]{0,40}(?:\\{0,7}["'])?value(?:\\{0,7}["'])?[ \t]{0,4}[:=][ \t]{0,4}/y;
const argument = /(?:\\{0,7}["'`],[ \t]{0,4}|\()(?=\\{0,7}["'`])/y;
const element = />([^<\s]{8,4096})<\//y;
const isWord = / (?:is|was)[: ][ \t]{0,4}/y;
const space = /[ \t]{1,4}/y;

/** The text of an element of XML. */
function elementAt(text: string, start: number, end: number): Value | null {
  if (!/<(?:\w{1,40}:)?$/.test(text.slice(Math.max(0, start - 42), start))) return null;
  element.lastIndex = end;
  const found = element.exec(text);
  return found === null ? null : { start: end + 1, end: end + 1 + (found[1] as string).length };
}

function assignedAt(text: string, start: number, end: number, key: string): Value | null {
  const place = valuePlace(text, start, end, key);
  return place === null ? null : valueAt(text, place);
}

function valuePlace(text: string, start: number, end: number, key: string): number | null {
  const before = text.slice(Math.max(0, start - 80), start);
  const isFlag = key.startsWith('-') && /(?:^|[\s"'`[,(=])$/.test(before);
  const isVariable = /^\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(key) || /^[a-z]+_[a-z]+_[a-z_]+$/.test(key);
  return (
    endOf(assignment, text, end) ??
    endOf(named, text, end) ??
    endOf(argument, text, end) ??
    endOf(isWord, text, end) ??
    (isFlag || isVariable || isNetrc(before) || /^[ \t]+\\{0,7}["']/.test(text.slice(end, end + 16))
      ? endOf(space, text, end)
      : null)
  );
}

/** Whether a password of a netrc file follows: after a machine or a login. */
function isNetrc(before: string): boolean {
  return /(?:^|[\s"'])(?:login|machine|account|user|username)(?:\s|\\n)+\S+(?:\s|\\n)+$/.test(before);
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Before a value: a tag of YAML, a letter of a string of Python, the bracket of a list. Then the scheme of a header. */
const beforeValue = /(?:!!str |[@bBfFruRU](?=["'])|\[[ \t]{0,4}(?=\\{0,7}["']))?/y;
const scheme = /(?:Bearer|Basic|[Tt]oken|ApiKey|bearer)(?:[ \t]+|%20)|pass:/y;
const opening = /(\\{0,7})(["'`])/y;

function valueAt(text: string, place: number): Value | null {
  const at = endOf(beforeValue, text, place) ?? place;
  opening.lastIndex = at;
  const quote = opening.exec(text);
  const from = quote === null ? at : opening.lastIndex;
  const start = endOf(scheme, text, from) ?? from;
  return quote === null
    ? unquotedAt(text, start)
    : quotedAt(text, start, (quote[1] as string).length, quote[2] as string);
}

/** A value ends at its quotation mark with at most as many backslashes as the first has. */
function quotedAt(text: string, start: number, level: number, quote: string): Value | null {
  for (let at = start; at < text.length && at - start <= longest + 8; at += 1) {
    if (text[at] !== quote) continue;
    let first = at;
    while (first > start && text[first - 1] === '\\') first -= 1;
    if (at - first <= level) return { start, end: first };
  }
  return null;
}

function unquotedAt(text: string, start: number): Value | null {
  const near = text.slice(start, start + longest + 1);
  const end = near.search(/[\s"'`<>\\]/);
  const whole = end < 0 ? near : near.slice(0, end);
  const cut = whole.search(/[&;,|(){}[\]]|%26|%0A/);
  // A call, or a field of a list: an expression of a program.
  if (cut >= 0 && /[([{]/.test(whole[cut] as string)) return null;
  let length = cut < 0 ? whole.length : cut;
  while (length > 0 && '.,:!?'.includes(whole[length - 1] as string)) length -= 1;
  return isExpression(whole.slice(0, length)) ? null : { start, end: start + length };
}

/** Whether an unquoted value is a name of a program, such as `config.auth.token`. */
function isExpression(value: string): boolean {
  const parts = value.split(/\??\.|::|->/);
  return parts.length > 1 && parts.every((part) => /^[A-Za-z_$][\w$]*$/.test(part) && !isRandom(part));
}

/** Of these one is a part of every text with the cookies of a header or a command. */
export const cookieAnchors: readonly string[] = [
  'ookie: ',
  'ookie:',
  'OOKIE:',
  'ookie"',
  "ookie'",
  'ookie\\',
  '--cookie',
];
const cookies =
  /(?:set-)?cookie(?:\\{0,7}["'])?[ \t]{0,2}[:= ][ \t]{0,4}(?:\\{0,7}["'])?(?=[\w.-]{1,100}=)/gi;
const cookie = /([\w.-]{1,100})=([^\s;,"'\\]{0,4096})(?:;[ \t]*|$|(?=[\s,"'\\]))/y;
const shortestCookie = 16;

/** The values of cookies that look random. */
export function cookieSecrets(text: string): SecretRange[] {
  const ranges: SecretRange[] = [];
  cookies.lastIndex = 0;
  for (let found = cookies.exec(text); found !== null; found = cookies.exec(text)) {
    cookie.lastIndex = cookies.lastIndex;
    for (let one = cookie.exec(text); one !== null; one = cookie.exec(text)) {
      const value = one[2] as string;
      const start = one.index + (one[1] as string).length + 1;
      if (value.length >= shortestCookie && !value.includes('[REDACTED:') && isRandom(value))
        ranges.push({ start, end: start + value.length, kind: 'cookie' });
      cookies.lastIndex = cookie.lastIndex;
    }
  }
  return ranges;
}
