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

type Check = (secret: string) => boolean;

const hasLetterAndDigit: Check = (secret) => /[A-Za-z]/.test(secret) && /[0-9]/.test(secret);
const isNoExample: Check = (secret) => !secret.includes('EXAMPLE');
/** Documentation and templates write these in the place of a password. */
const placeholder =
  /^(?:x{3}|\.{3}|(?:your|my)?[-_]?(?:password|passwd|pass|pwd|secret|token|redacted)$|\$?[{(].*[)}]$|\[.*\]$|%\w+%$|%(?:\(\w+\))?[a-z]$|\*+$)/i;
/** Such as `$DB_PASSWORD_2` and `$password`: a password that begins with `$` has digits between letters. */
const variable = /^\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+[0-9]{0,2})$/;
const isNoPlaceholder: Check = (secret) => !placeholder.test(secret) && !variable.test(secret);

type Anchors = string | readonly string[];

function format(kind: string, anchors: Anchors, source: string, accepts?: Check): SecretFormat {
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

/** A token of a prefix and a body, which is not a part of a longer word. */
function token(kind: string, anchors: Anchors, source: string, accepts?: Check): SecretFormat {
  return format(kind, anchors, `${wordStart}${source}(?![A-Za-z0-9_-])`, accepts);
}

/** A quotation mark, also in a JSON text inside a JSON text. */
const quote = '\\\\{0,7}"';
const secretKey =
  '(?:[A-Za-z0-9]{1,30}[_-]){0,3}' +
  '(?:(?:[Cc]lient|[Ss]hared|[Ss]igning|[Ww]ebhook|[Aa]pp|[Uu]ser|[Dd]b)?(?:[Pp]assword|[Pp]asswd|[Pp]assphrase|[Ss]ecret)|' +
  'PASSWORD|PASSWD|PASSPHRASE|SECRET|pwd|' +
  '(?:[Aa]pi|[Aa]ccess|[Ss]ecret|[Pp]rivate)[_-]?[Kk]ey|(?:API|SECRET|PRIVATE)_KEY|' +
  '(?:[Aa]ccess|[Rr]efresh|[Aa]uth|[Ss]ession|[Bb]ot|[Aa]pi)_?[Tt]oken|(?:ACCESS|REFRESH|AUTH|SESSION|BOT|API)_TOKEN|[Ss]ecretAccessKey)';

/** The ends of these keys, with the quotation mark after them. */
const secretKeyAnchors = [
  ...['ssword', 'sswd', 'ssphrase', 'ecret', 'pwd', 'Key', 'key', 'oken'],
  ...['PASSWORD', 'PASSWD', 'PASSPHRASE', 'SECRET', 'KEY', 'TOKEN'],
].flatMap((end) => [`${end}"`, `${end}\\`]);

/** A key of a JSON object whose value is a secret if the value looks random. */
export const secretKeyOnly = new RegExp(`^${secretKey}$`);

const keyName = '(?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----';
/** Between the lines of a key: line ends, and what an editor, a patch, a quotation or a program adds to each line. */
const inKey = '(?:(?!-----(?:BEGIN|END) )[^])';

/**
 * The formats that are recognized, as their issuers document them or, where an issuer does not, as they are widely
 * known (README, "Formats"). The anchors make a text without a format cost one pass for all formats together.
 */
export const secretFormats: readonly SecretFormat[] = [
  format(
    'private-key',
    'PRIVATE KEY',
    `-----BEGIN ${keyName}(?:${inKey}{0,200}?[A-Za-z0-9+/=]{40,})?(?:${inKey}{0,80}?[A-Za-z0-9+/=]{40,})*(?:${inKey}{0,160}?-----END ${keyName}|[A-Za-z0-9+/=\\s\\\\]*)`,
    (secret) => /[A-Za-z0-9+/]{40}/.test(secret),
  ),
  token('age-key', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}'),
  // Before the JWT that it contains.
  token('github-token', '_eyJ', 'ghs_[0-9]{1,12}_eyJ[\\w-]{8,2000}\\.eyJ[\\w-]{8,4000}\\.[\\w-]{16,2000}'),
  format('jwt', '.eyJ', `${wordStart}eyJ[\\w-]{8}[\\w-]*\\.eyJ[\\w-]{8}[\\w-]*\\.[\\w-]{16}[\\w-]*`),
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) =>
    token('aws-access-key', prefix, `${prefix}[A-Z2-7]{16}`, isNoExample),
  ),
  format(
    'aws-secret-key',
    ['t_access_key', 'T_ACCESS_KEY', 'tAccessKey'],
    `(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|[Ss]ecretAccessKey)(?:\\\\{0,7}["'])?\\s{0,4}[:=]\\s{0,4}(?:\\\\{0,7}["'])?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])`,
    isNoExample,
  ),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) =>
    token('github-token', prefix, `${prefix}[A-Za-z0-9]{36,250}`, hasBase62Checksum),
  ),
  token('github-token', 'b_pat_', 'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}'),
  token(
    'gitlab-token',
    ['pat', 'dt', 'rt', 'rtr', 'cbt', 'ptt', 'ft', 'imt', 'agent', 'soat'].map((type) => `gl${type}-`),
    'gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat)-[\\w-]{20,300}(?:\\.[0-9a-z]{2}\\.?[0-9a-z]{9})?',
    hasLetterAndDigit,
  ),
  token(
    'slack-token',
    [...'abeoprs'].map((type) => `xox${type}-`),
    'xox[abeoprs]-[0-9]{8,14}-[A-Za-z0-9-]{16,200}',
  ),
  token('slack-token', 'xoxe', 'xoxe(?:\\.xox[bp])?-[0-9]-[A-Za-z0-9]{140,180}'),
  token('slack-token', 'xapp-', 'xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{64}'),
  format(
    'slack-webhook',
    '.slack.com',
    'hooks\\.slack\\.com/services/(?<secret>T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})(?![A-Za-z0-9])',
  ),
  token('stripe-key', ['k_live_', 'k_test_'], '[sr]k_(?:live|test)_[A-Za-z0-9]{24,247}'),
  token('stripe-key', 'whsec_', 'whsec_[A-Za-z0-9]{32}', hasLetterAndDigit),
  token('google-api-key', 'AIza', 'AIza[\\w-]{35}', hasLetterAndDigit),
  token('google-client-secret', 'GOCSPX-', 'GOCSPX-[\\w-]{28}'),
  token('anthropic-key', 'sk-ant-', 'sk-ant-[a-z]{3,5}[0-9]{2}-[\\w-]{80,120}'),
  token('openai-key', 'T3BlbkFJ', 'sk-[\\w-]{20,108}T3BlbkFJ[\\w-]{20,100}'),
  token('openrouter-key', 'sk-or-v1-', 'sk-or-v1-[a-f0-9]{64}'),
  token('npm-token', 'npm_', 'npm_[A-Za-z0-9]{36}', hasBase62Checksum),
  token('pypi-token', 'pypi-Ag', 'pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[\\w-]{50,1000}'),
  token('sendgrid-key', 'SG.', 'SG\\.[\\w-]{22}\\.[\\w-]{43}'),
  token('huggingface-token', 'hf_', 'hf_[A-Za-z]{34}'),
  token('digitalocean-token', ['p_v1_', 'o_v1_', 'r_v1_'], 'do[opr]_v1_[a-f0-9]{64}'),
  token('docker-token', 'dckr_', 'dckr_[po]at_[\\w-]{27}', hasLetterAndDigit),
  token('linear-key', 'n_api_', 'lin_api_[A-Za-z0-9]{40}', hasLetterAndDigit),
  token('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}'),
  format('1password-token', 's_eyJ', `${wordStart}ops_eyJ[\\w+/-]{250,2000}={0,3}(?![\\w+/=-])`),
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
    'uthorization',
    '[Aa]uthorization(?:\\\\{0,7}["\'])?:\\s{0,4}(?:\\\\{0,7}["\'])?(?:Bearer|Basic|token) {1,4}(?<secret>[A-Za-z0-9._~+/-]{20,2000}={0,2})(?![A-Za-z0-9._~+/=-])',
    isRandom,
  ),
  format(
    'secret-value',
    secretKeyAnchors,
    `"${secretKey}${quote}:\\s{0,4}${quote}(?<secret>[^\\s"\\\\]{12,200})${quote}`,
    isRandom,
  ),
];

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/**
 * Whether the last six characters are the CRC-32 of the random part before them, in base 62: the tokens of GitHub and
 * npm. The prefix up to `_` is not a part of it.
 */
function hasBase62Checksum(token: string): boolean {
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
