import { crc32 } from 'node:zlib';
import {
  alnum,
  base64,
  digits,
  hex,
  type IssuedSecret,
  issuedTokens,
  lettersOnly,
  lower,
  mixed,
  type Part,
  spread,
  upper,
  url64,
} from './issued-tokens.ts';

const base32 = `${upper}234567`;

/** The checksum of GitHub and npm by another way than the source: zlib, and a conversion by BigInt division. */
function withChecksum(secret: string): string {
  const random = secret.slice(secret.indexOf('_') + 1, -6);
  let rest = BigInt(crc32(random));
  let checksum = '';
  for (let place = 0; place < 6; place += 1) {
    checksum = (digits + upper + lower)[Number(rest % 62n)] + checksum;
    rest /= 62n;
  }
  return secret.slice(0, -6) + checksum;
}

/** Letters and digits without M, so that no word that stands for a secret (`example`, `dummy`) is made by chance. */
const wordless = alnum.replace(/m/gi, '');

/** Replaces repeated letters and digits in the first twelve characters: a short text with repetitions does not look random. */
function withDistinctStart(secret: string): string {
  const used = new Set<string>();
  for (const character of secret.slice(0, 12)) {
    const sort = digits.includes(character) ? digits : wordless.replace(/[0-9]/g, '');
    used.add(used.has(character) ? ([...sort].find((other) => !used.has(other)) ?? character) : character);
  }
  return [...used].join('') + secret.slice(12);
}

const unlimited = Number.POSITIVE_INFINITY;
const withOtherEnd = (secret: string) => secret.slice(0, -1) + (secret.endsWith('a') ? 'b' : 'a');
const alternating = (secret: string) => withDistinctStart(`${secret.slice(0, 2)}7h2k9Qw4${secret.slice(10)}`);

/** Texts whose Base64 is a secret. */
const encodedStarts = [
  `-----BEGIN RSA PRIVATE KEY-----\n${'q7H2k9W4z3T5'.repeat(5)}\n-----END RSA PRIVATE KEY-----`,
  ...['ghp_', 'gho_', 'ghs_'].map((prefix) => withChecksum(`${prefix}q7H2k9W4z3T5q7H2k9W4z3T5q7H2k9000000`)),
  `github_pat_${'q7H2k9W4z3T'.repeat(2)}_${'q7H2k9W4z3T5'.repeat(5).slice(1)}`,
  `glpat-${'q7H2k9W4z3T5'.repeat(2)}`,
  withChecksum('npm_q7H2k9W4z3T5q7H2k9W4z3T5q7H2k9000000'),
  `pypi-AgEIcHlwaS5vcmc${'q7H2k9W4z3T5'.repeat(6)}`,
  `dckr_pat_${'q7H2k9W4z'.repeat(3)}`,
  ...['sk_live_', 'rk_live_'].map((prefix) => `${prefix}${'q7H2k9W4z3T5'.repeat(2)}`),
  `sk-ant-api03-${'q7H2k9W4z3T5'.repeat(8)}`,
  `sk-proj-${'q7H2k9W4z3T5'.repeat(3)}T3BlbkFJ${'q7H2k9W4z3T5'.repeat(3)}`,
  `sk-or-v1-${'09af'.repeat(16)}`,
  ...['xoxb-', 'xoxp-'].map((prefix) => `${prefix}123456789012-${'q7H2k9W4z3T5'.repeat(2)}`),
  `hf_${'qHkWzT'.repeat(6).slice(2)}`,
  `gsk_${'q7H2k9W4z3T5q'.repeat(4)}`,
  `hvs.${'q7H2k9W4z3T5'.repeat(3)}`,
  `dop_v1_${'09af'.repeat(16)}`,
  `AKIA${'Q7H2K3W4Z3T5Q7H2'.replace(/[01589]/g, 'Q')}`,
  `AIza${'q7H2k9W'.repeat(5)}`,
  `SG.${'q7H2k9W4z3T'.repeat(2)}.${'q7H2k9W4z3T5'.repeat(4).slice(5)}`,
  `GOCSPX-${'q7H2k9W'.repeat(4)}`,
  ...['postgres', 'postgresql', 'mysql', 'mongodb', 'redis'].map(
    (scheme) => `${scheme}://jill:q7H2k9W4z3T5@db.example/shop`,
  ),
];

export const issuedSecrets: readonly IssuedSecret[] = [
  {
    kind: 'private-key',
    anchor: 'PRIVATE KEY',
    parts: [
      '-----BEGIN RSA PRIVATE KEY-----\n',
      [base64, 64],
      '\n',
      [base64, 64],
      '\n-----END RSA PRIVATE KEY-----',
    ],
    isLoose: true,
    refused: () => '-----BEGIN RSA PRIVATE KEY-----\nMIIE',
  },
  {
    kind: 'private-key',
    anchor: 'PRIVATE KEY',
    parts: ['-----BEGIN OPENSSH PRIVATE KEY-----\\n', [base64, 70], '\\n', [base64, 30]],
    isLoose: true,
  },
  {
    kind: 'age-key',
    anchor: 'AGE-SECRET-KEY-1',
    parts: ['AGE-SECRET-KEY-1', ['QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58]],
  },
  {
    kind: 'github-token',
    anchor: '_eyJ',
    parts: [
      'ghs_',
      [digits, 1, 12],
      '_eyJ',
      [url64, 8, 2000],
      '.eyJ',
      [url64, 8, 4000],
      '.',
      [url64, 16, 2000],
    ],
  },
  {
    kind: 'jwt',
    anchor: '.eyJ',
    parts: ['eyJ', [url64, 8, unlimited], '.eyJ', [url64, 8, unlimited], '.', [url64, 16, unlimited]],
  },
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map(
    (prefix): IssuedSecret => ({
      kind: 'aws-access-key',
      anchor: prefix,
      parts: [prefix, [base32, 16]],
      refused: () => `${prefix}IOSFODNN7EXAMPLE`,
    }),
  ),
  {
    kind: 'aws-secret-key',
    anchor: 't_access_key',
    before: 'aws_secret_access_key = ',
    parts: [[base64, 40]],
    refused: () => 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  ...['AWS_SECRET_ACCESS_KEY=', "'SecretAccessKey': '"].map(
    (before): IssuedSecret => ({
      kind: 'aws-secret-key',
      anchor: 't_access_key',
      before,
      parts: [[base64, 40]],
    }),
  ),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map(
    (prefix): IssuedSecret => ({
      kind: 'github-token',
      anchor: prefix,
      parts: [prefix, [alnum, 36, 250]],
      finish: withChecksum,
      refused: withOtherEnd,
    }),
  ),
  { kind: 'github-token', anchor: 'b_pat_', parts: ['github_pat_', [alnum, 22], '_', [alnum, 59]] },
  {
    kind: 'gitlab-token',
    anchor: 'glpat-',
    parts: ['glpat-', [url64, 20, 300]],
    finish: mixed,
    refused: lettersOnly,
  },
  {
    kind: 'gitlab-token',
    anchor: 'glpat-',
    parts: ['glpat-', [url64, 27, 300], '.', [`${digits}${lower}`, 2], '.', [`${digits}${lower}`, 9]],
    finish: mixed,
    isLoose: true,
  },
  ...['dt', 'rt', 'rtr', 'cbt', 'ptt', 'ft', 'imt', 'agent', 'soat', 'oas', 'ffct', 'wt'].map(
    (type): IssuedSecret => ({
      kind: 'gitlab-token',
      anchor: 'glpat-',
      parts: [`gl${type}-`, [url64, 20, 300]],
      finish: (secret) => `${secret.slice(0, -2)}a1`,
      isLoose: true,
    }),
  ),
  ...[...'abceoprs'].map(
    (type): IssuedSecret => ({
      kind: 'slack-token',
      anchor: 'xoxa-',
      parts: [`xox${type}-`, [digits, 8, 14], '-', [`${alnum}-`, 16, 200]],
    }),
  ),
  { kind: 'slack-token', anchor: 'xoxe', parts: ['xoxe.xoxp-1-', [alnum, 140, 180]] },
  { kind: 'slack-token', anchor: 'xoxe', parts: ['xoxe-1-', [alnum, 140, 180]] },
  {
    kind: 'slack-token',
    anchor: 'xapp-',
    parts: ['xapp-1-', [upper + digits, 8, 14], '-', [digits, 8, 14], '-', [hex, 64]],
  },
  {
    kind: 'slack-webhook',
    anchor: '.slack.com',
    before: 'https://hooks.slack.com/services/',
    parts: ['T', [upper + digits, 8, 12], '/B', [upper + digits, 8, 12], '/', [alnum, 24]],
  },
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'].map(
    (prefix): IssuedSecret => ({ kind: 'stripe-key', anchor: 'k_live_', parts: [prefix, [alnum, 24, 247]] }),
  ),
  {
    kind: 'google-api-key',
    anchor: 'AIza',
    parts: ['AIza', [url64, 35]],
    finish: mixed,
    refused: lettersOnly,
  },
  { kind: 'google-client-secret', anchor: 'GOCSPX-', parts: ['GOCSPX-', [url64, 28]] },
  {
    kind: 'anthropic-key',
    anchor: 'sk-ant-',
    parts: ['sk-ant-', [lower, 3, 5], [digits, 2], '-', [url64, 80, 120]],
  },
  { kind: 'openai-key', anchor: 'T3BlbkFJ', parts: ['sk-', [url64, 20, 108], 'T3BlbkFJ', [url64, 20, 100]] },
  { kind: 'openrouter-key', anchor: 'sk-or-v1-', parts: ['sk-or-v1-', [hex, 64]] },
  {
    kind: 'npm-token',
    anchor: 'npm_',
    parts: ['npm_', [alnum, 36]],
    finish: withChecksum,
    refused: withOtherEnd,
  },
  { kind: 'pypi-token', anchor: 'pypi-Ag', parts: ['pypi-AgEIcHlwaS5vcmc', [url64, 50, 1000]] },
  { kind: 'sendgrid-key', anchor: 'SG.', parts: ['SG.', [url64, 22], '.', [url64, 43]] },
  { kind: 'huggingface-token', anchor: 'hf_', parts: ['hf_', [upper + lower, 34]] },
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map(
    (prefix): IssuedSecret => ({
      kind: 'digitalocean-token',
      anchor: 'p_v1_',
      parts: [prefix, [hex, 64]],
    }),
  ),
  {
    kind: 'docker-token',
    anchor: 'dckr_',
    parts: ['dckr_pat_', [url64, 27]],
    finish: mixed,
    refused: lettersOnly,
  },
  {
    kind: 'linear-key',
    anchor: 'n_api_',
    parts: ['lin_api_', [alnum, 40]],
    finish: mixed,
    refused: lettersOnly,
  },
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map(
    (prefix): IssuedSecret => ({ kind: 'shopify-token', anchor: 'shpat_', parts: [prefix, [hex, 32]] }),
  ),
  { kind: '1password-token', anchor: 's_eyJ', parts: ['ops_eyJ', [`${base64}_-`, 250, 2000], ['=', 0, 3]] },
  {
    kind: 'url-password',
    anchor: '://',
    before: 'postgres://jill:',
    parts: [[`${alnum}!`, 1, 200]],
    behind: '@db.example:5432/x',
    refused: () => 'password',
  },
  {
    kind: 'azure-key',
    anchor: 'AccountKey=',
    before: 'AccountName=a;AccountKey=',
    parts: [
      [base64, 43, 86],
      ['=', 1, 2],
    ],
  },
  {
    kind: 'azure-key',
    anchor: 'AccountKey=',
    before: 'SharedAccessKey=',
    parts: [[base64, 43], '='],
    isLoose: true,
  },
  {
    kind: 'authorization',
    anchor: 'uthorization',
    before: 'http.extraheader "AUTHORIZATION: basic ',
    parts: [[wordless, 12, 4000]],
    behind: '"',
    finish: alternating,
  },
  {
    kind: 'authorization',
    anchor: 'uthorization',
    before: '-H "Authorization: Bearer ',
    parts: [
      [wordless, 12, 4000],
      ['=', 0, 2],
    ],
    behind: '"',
    finish: alternating,
    refused: lettersOnly,
  },
  ...issuedTokens,
  {
    kind: 'private-key',
    anchor: 'Private-Lines: ',
    before: 'Private-Lines: 2\n',
    parts: [[base64, 64], '\n', [base64, 40, 60]],
    isLoose: true,
  },
  ...['&sig=', '?X-Amz-Signature=', '&X-Amz-Security-Token=', '?Signature='].map(
    (before): IssuedSecret => ({
      kind: 'signed-url',
      anchor: 'sig=',
      before: `https://store.example/a?x=1${before}`,
      parts: [
        [alnum, 40, 3000],
        ['=', 0, 2],
      ],
      finish: alternating,
      refused: lettersOnly,
    }),
  ),
  ...[
    ['-u ', 'curl -s -u jill:'],
    ['-u ', "curl -s -u'jill:"],
    ['-u ', 'curl -s -u"jill:'],
    ['-u ', 'curl -s -u\\"jill:'],
    ['-u ', "wget --user='jill:"],
    ['-u ', 'http --auth jill:'],
    ['auth=(', 'requests.get(url, auth=("jill", "'],
    ['auth=(', "$.basic_auth('jill', '"],
    ['auth=(', 'HTTPBasicAuth("jill", "'],
    ['DENTIFIED ', "CREATE USER jill IDENTIFIED BY '"],
    ['mysql', 'mysql -h db.example -p'],
    ['mysql', 'mariadb-dump -u root -p'],
    ['sshpass', 'sshpass -p '],
    ['sshpass', 'redis-cli -h db.example -a '],
    ['sshpass', 'docker login -u jill -p '],
    ['sshpass', 'ldapsearch -x -w '],
    ['sshpass', 'openssl enc -pass pass:'],
    ...[':5432:', ':5433:', ':6432:', ':*:'].map(
      (port) => [':5432:', `db.example${port}shop:jill:`] as const,
    ),
  ].map(
    ([anchor = '', before = '']): IssuedSecret => ({
      kind: anchor === ':5432:' ? 'pgpass' : 'command-password',
      anchor,
      before,
      parts: [[wordless, 8, anchor === '-u ' || anchor === 'auth=(' || anchor === 'DENTIFIED ' ? 200 : 100]],
      finish: spread,
      refused: () => 'password',
    }),
  ),
  ...encodedStarts.map(
    (start): IssuedSecret => ({
      kind: 'base64-secret',
      anchor: 'LS0tLS1CRUdJT',
      before: 'data: ',
      parts: [start],
      finish: (secret) => Buffer.from(secret).toString('base64'),
      refused: () => Buffer.from('postgres://jill@db.example/shop').toString('base64'),
      isLoose: true,
    }),
  ),
];

export interface SecretText {
  readonly text: string;
  /** The secret in it. */
  readonly secret: string;
}

/** The length of each part: at least, at most, or random between the two. */
export type Lengths = 'least' | 'most' | 'any';

export function issue(
  { before = '', behind = '', parts, finish = (secret) => secret }: IssuedSecret,
  random: () => number,
  lengths: Lengths = 'any',
): SecretText {
  return planted(before, finish(parts.map((part) => written(part, random, lengths)).join('')), behind);
}

/** Texts that are nearly secrets: a part is too short or too long by one, the prefix is wrong, or the issuer would not issue it. */
export function* nearMisses(issued: IssuedSecret, random: () => number): Generator<SecretText> {
  const { before = '', behind = '', parts, isLoose = false, refused, finish = (secret) => secret } = issued;
  if (refused !== undefined) yield planted(before, refused(issue(issued, random).secret), behind);
  if (isLoose) return;
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') continue;
    const [alphabet, least, most = least] = part;
    for (const length of [least - 1, most + 1]) {
      if (length < 0 || length > 1e6) continue;
      const wrong = parts.with(index, [alphabet, length]);
      yield planted(before, finish(wrong.map((one) => written(one, random, 'least')).join('')), behind);
    }
  }
  const end = parts.at(-1);
  if (before === '' && behind === '' && typeof end === 'string')
    yield planted('', issue(issued, random).secret, 'x1');
  const [prefix] = parts;
  if (before !== '' || typeof prefix !== 'string') return;
  const { secret } = issue(issued, random);
  yield planted(`${prefix} `, `!${secret.slice(1)}`, behind);
  const letter = prefix.search(/[A-Za-z]/);
  if (letter > 0)
    yield planted(`${prefix} `, `${secret.slice(0, letter)}!${secret.slice(letter + 1)}`, behind);
  yield planted('', `x${secret}`, behind);
  if (typeof end === 'object' && !end[0].includes('_')) yield planted('', secret, `_x${behind}`);
}

function planted(before: string, secret: string, behind: string): SecretText {
  return { text: `${before}${secret}${behind}`, secret };
}

function written(part: Part, random: () => number, lengths: Lengths): string {
  if (typeof part === 'string') return part;
  const [alphabet, least, most = least] = part;
  const longest = Math.min(most, least + 4_000);
  const length =
    lengths === 'least'
      ? least
      : lengths === 'most'
        ? longest
        : least + Math.floor(random() * (longest - least + 1));
  let text = '';
  for (let at = 0; at < length; at += 1) text += alphabet[Math.floor(random() * alphabet.length)];
  return text;
}
