import {
  format,
  isNoExample,
  isNoPlaceholder,
  isPassword,
  isRandom,
  type SecretFormat,
  token,
  wordStart,
} from './format-rules.ts';
import { issuerTokens } from './issuer-tokens.ts';

const keyName = '(?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----';
/** Between the lines of a key: line ends, and what an editor, a patch, a quotation or a program adds to each line. */
const inKey = '(?:(?!-----(?:BEGIN|END) )[^])';
/** A quotation mark that can be absent, also in a JSON text inside a JSON text. */
const quotes = '(?:\\\\{0,7}["\'])?';

const valueEnd = '(?![^\\s"\'\\\\…])';

const keys: readonly SecretFormat[] = [
  format(
    'private-key',
    'PRIVATE KEY',
    `-----BEGIN ${keyName}(?:${inKey}{0,200}?[A-Za-z0-9+/=]{40,})?(?:${inKey}{0,80}?[A-Za-z0-9+/=]{40,})*(?:${inKey}{0,160}?-----END ${keyName}|[A-Za-z0-9+/=\\s\\\\]*)`,
    (secret) => /[A-Za-z0-9+/]{40}/.test(secret),
  ),
  format(
    'private-key',
    'Private-Lines: ',
    'Private-Lines: [0-9]{1,3}(?:\\s|\\\\[rn]){1,4}(?<secret>[A-Za-z0-9+/]{40,64}={0,2}(?:(?:\\s|\\\\[rn]){1,4}[A-Za-z0-9+/]{8,64}={0,2}){0,200})',
  ),
  token('age-key', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}'),
  format('jwt', '.eyJ', `${wordStart}eyJ[\\w-]{8}[\\w-]*\\.eyJ[\\w-]{8}[\\w-]*\\.[\\w-]{16}[\\w-]*`),
];

/** Secrets that are known by what stands beside them. */
const inContext: readonly SecretFormat[] = [
  format(
    'aws-secret-key',
    ['t_access_key', 'T_ACCESS_KEY', 'tAccessKey'],
    `(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|[Ss]ecretAccessKey)${quotes}\\s{0,4}[:=]\\s{0,4}${quotes}(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])`,
    isNoExample,
  ),
  format(
    'url-password',
    '://',
    '://[^\\s/?#@:"\'<>`]{0,100}:(?<secret>[^\\s/?#"\'<>`]{1,200})@[A-Za-z0-9[]',
    isNoPlaceholder,
  ),
  format(
    'azure-key',
    ['AccountKey=', 'SharedAccessKey='],
    '(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{43,86}={1,2})(?![A-Za-z0-9+/=])',
  ),
  format(
    'authorization',
    ['uthorization', 'UTHORIZATION'],
    `(?:[Aa]uthorization|AUTHORIZATION)${quotes}\\s{0,2}[:=]\\s{0,4}${quotes}(?:[Bb]earer|[Bb]asic|[Tt]oken|[Aa]pi[Kk]ey|SSWS|GenieKey|FlyV1) {1,4}(?<secret>[A-Za-z0-9._~+/-]{12,4000}={0,2})(?![A-Za-z0-9._~+/=-])`,
    isCredential,
  ),
  format(
    'signed-url',
    ['sig=', 'Signature=', 'Security-Token='],
    '[?&](?:sig|Signature|X-(?:Amz|Goog)-(?:Signature|Security-Token))=(?<secret>[A-Za-z0-9%+/_-]{40,3000}={0,2})(?![A-Za-z0-9%+/=_-])',
    isRandom,
  ),
  format(
    'command-password',
    ['-u ', "-u'", '-u"', '-u\\', '-user', '--auth'],
    `(?<![\\w-])(?:-u|--(?:proxy-)?user|--auth)[ =]{0,2}${quotes}[\\w.@+-]{1,100}:(?<secret>[^\\s"'\\\\…]{8,200})${valueEnd}`,
    isAnyPassword,
  ),
  format(
    'command-password',
    ['auth=(', 'asic_auth(', 'asicAuth('],
    `(?:auth=\\(|[Bb]asic_?[Aa]uth\\()\\s{0,4}\\\\{0,7}["'][^"'\\n]{1,100}["'],\\s{0,4}\\\\{0,7}["'](?<secret>[^\\s"'\\\\…]{8,200})${valueEnd}`,
    isAnyPassword,
  ),
  format(
    'command-password',
    'DENTIFIED ',
    `IDENTIFIED (?:WITH [\\w"'\`]{1,60} )?BY (?:PASSWORD )?\\\\{0,7}["'](?<secret>[^\\s"'\\\\…]{8,200})${valueEnd}`,
    isAnyPassword,
  ),
  format(
    'command-password',
    ['mysql', 'mariadb'],
    `(?<![\\w-])(?:mysql|mariadb)[a-z-]{0,12} (?:[^\\s|;&]{1,100} ){0,4}-p(?<secret>[^\\s"'\\\\…]{8,100})${valueEnd}`,
    isAnyPassword,
  ),
  format(
    'command-password',
    ['sshpass', 'redis-cli', 'docker login', 'ldap', 'pass:'],
    `(?<![\\w-])(?:sshpass (?:-v )?-p ?|redis-cli (?:[^\\s|;&]{1,100} ){0,4}-a |docker login (?:[^\\s|;&]{1,100} ){0,3}-p |ldap[a-z]{3,8} (?:[^\\s|;&]{1,100} ){0,4}-w |pass:)${quotes}(?<secret>[^\\s"'\\\\…]{8,100})${valueEnd}`,
    isAnyPassword,
  ),
  format(
    'pgpass',
    [':5432:', ':5433:', ':6432:', ':*:'],
    '(?<![^\\s"\'=])[\\w.*-]{1,100}:(?:[0-9]{1,5}|\\*):[\\w*-]{1,60}:[\\w*.-]{1,60}:(?<secret>[^\\s:"\'\\\\…]{8,100})(?![^\\s"\'\\\\…])',
    isAnyPassword,
  ),
];

/**
 * The formats that are recognized, as their issuers document them or, where an issuer does not, as they are widely
 * known (README, "Formats"). The anchors make a text without a format cost one pass for all formats together.
 */
export const secretFormats: readonly SecretFormat[] = [
  ...keys,
  ...issuerTokens,
  ...inContext,
  format('base64-secret', encodedPrefixes(), '(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{24,8000}={0,2}', isEncoded),
];

function isAnyPassword(value: string): boolean {
  return isPassword(value) || isRandom(value);
}

/** The beginnings of tokens and keys whose Base64 is recognized, as in a Secret of Kubernetes. */
function encodedPrefixes(): string[] {
  return [
    ...['-----BEGIN', 'ghp_', 'gho_', 'ghs_', 'github_pat_', 'glpat-', 'npm_', 'pypi-', 'dckr_'],
    ...[
      'sk_live_',
      'rk_live_',
      'sk-ant-',
      'sk-proj-',
      'sk-or-',
      'xoxb-',
      'xoxp-',
      'hf_',
      'gsk_',
      'hvs.',
      'dop_v1_',
    ],
    ...[
      'AKIA',
      'AIza',
      'SG.',
      'GOCSPX-',
      'postgres://',
      'postgresql://',
      'mysql://',
      'mongodb://',
      'redis://',
    ],
  ].map((prefix) =>
    Buffer.from(prefix)
      .toString('base64')
      .slice(0, Math.floor((prefix.length * 4) / 3)),
  );
}

/** Whether a text is the Base64 of a text in which a format occurs. */
function isEncoded(secret: string): boolean {
  const text = Buffer.from(secret, 'base64').toString('latin1');
  return [...keys, ...issuerTokens, ...inContext].some(({ anchors, expression, accepts }) => {
    if (!anchors.some((anchor) => text.includes(anchor))) return false;
    expression.lastIndex = 0;
    const found = expression.exec(text);
    return found !== null && (accepts === undefined || accepts(found.groups?.secret ?? found[0]));
  });
}

/** Whether the credentials of a header look random, or are a name and a password in Base64. */
function isCredential(value: string): boolean {
  return isRandom(value) || isEncodedPair(value);
}

/** Whether a text is the Base64 of a name and a password, as in the header of HTTP and in the files of Docker and npm. */
export function isEncodedPair(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{12,4000}={0,2}$/.test(value)) return false;
  return /^[\x21-\x39\x3b-\x7e]{1,200}:[\x20-\x7e]{4,3000}$/.test(
    Buffer.from(value, 'base64').toString('latin1'),
  );
}
