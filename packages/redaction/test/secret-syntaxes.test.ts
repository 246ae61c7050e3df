import { issue, issuedSecrets, randomFrom, secretSyntaxes } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';

const random = randomFrom(40);
const { text, value } = createRedactor();
const alphabet = 'ABCDEFGHJKLNPQRSTUVWXYZabcdefghjkpqrstuvwxyz';
const pick = (from: string) => from[Math.floor(random() * from.length)] as string;

/** Letters and digits in turn: a text that no word is. */
function secretOf(length: number): string {
  return Array.from({ length }, (_, at) => pick(at % 3 === 2 ? '23456789' : alphabet)).join('');
}
const pairOf = (secret: string) => Buffer.from(`jill:${secret}`).toString('base64');

describe('the value of a key that names a secret is replaced, and nothing else', () => {
  it.each(secretSyntaxes)('%s', (syntax) => {
    for (const length of [16, 20, 40]) {
      const secret = secretOf(length);
      const given = syntax.replace('‹›', secret);
      const { text: redacted, counts } = text(given);
      const [before = '', behind = ''] = syntax.split('‹›');
      expect(redacted.startsWith(before) && redacted.endsWith(behind), redacted).toBe(true);
      expect(redacted.slice(before.length, redacted.length - behind.length)).toMatch(
        /^\[REDACTED:[a-z-]+\]$/,
      );
      expect(Object.values(counts)).toEqual([1]);
      expect(text(redacted)).toEqual({ text: redacted, counts: {} });
    }
  });

  it.each([
    ['a header', 'Authorization: Basic ‹›'],
    ['a configuration of Docker', '{"auths":{"https://index.docker.io/v1/":{"auth":"‹›"}}}'],
    ['a configuration of npm', '_auth=‹›'],
    ['a setting of git', 'http.extraheader "AUTHORIZATION: basic ‹›"'],
  ])('a name and a password in Base64: %s', (_, syntax) => {
    const secret = pairOf('a7Gq09xT!');
    expect(text(syntax.replace('‹›', secret)).text).toMatch(/\[REDACTED:[a-z-]+\]/);
    expect(text(syntax.replace('‹›', secret)).text).not.toContain(secret);
  });

  it.each(['Tr0ub4dor&3', 'P@ssw0rd!x', 'k3Jx9vQ2'])('a short password: %s', (password) => {
    for (const syntax of ['password: "‹›"', 'DB_PASSWORD=‹›', 'Password=‹›;', '<password>‹›</password>'])
      expect(text(syntax.replace('‹›', password)).text).not.toContain(password);
    expect(value({ password }).value).toEqual({ password: '[REDACTED:secret-value]' });
  });
});

describe('what is not a secret stays', () => {
  it.each([
    ...[
      'password: process.env.DB_PASSWORD_2',
      'const token = parse2Utf8x9(x1)',
      'apiKey: config.auth2.token3.a4b',
    ],
    ...[
      'token=$TOKEN',
      'max_tokens: 4096',
      'next_page_token: "CAUQAA1b2c3d4e5"',
      'publicKey: "k3Jx9vQ2mZ7aB5tR"',
    ],
    ...[
      'cacheKey: k3Jx9vQ2mZ7aB5tR',
      '"key": "k3Jx9vQ2mZ7aB5tR"',
      'password: "********"',
      'PRIMARY_KEY=k3Jx9vQ2mZ7a',
    ],
    ...[
      'password: correct-horse-battery-staple',
      'API_KEY=your-api-key-here-123',
      'the token is required for 2fa',
    ],
    ...[
      'token: string',
      'password: admin123',
      'docker run -u 1000:1000 a1b2c3d4',
      'PWD=/home/a1b2c3d4/x',
      'secret: false',
    ],
    ...['auth: "required"', 'keyboard: a1b2c3d4e5f6g7', 'monkey = a1b2c3d4e5f6g7', 'compass=a1b2c3d4e5f6'],
    ...[
      'integrity: sha512-k3Jx9vQ2mZ7aB5tRk3Jx9vQ2mZ7aB5tR',
      'the password is required',
      'a.b(password, x2y3z4a5b6c7)',
    ],
    ...[
      'session_id: 0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d',
      '<token>',
      'password === a1b2c3d4e5f6',
      'key:k3Jx9vQ2mZ7aB5',
    ],
  ])('%s', (given) => expect(text(given)).toEqual({ text: given, counts: {} }));
});

it('at least 125 kinds and syntaxes of secrets are tested with one that is found', () => {
  const kinds = new Set(issuedSecrets.map(({ kind }) => kind));
  expect(kinds.size + secretSyntaxes.length).toBeGreaterThan(190);
  for (const one of issuedSecrets) {
    const { text: given, secret } = issue(one, random);
    expect(text(given).text.includes(secret), `${one.kind}: ${given}`).toBe(false);
  }
});

/** Texts made of keys, quotation marks and separators. Each is ten times as long as the one that it is compared with. */
it.each([
  'token=',
  'password="',
  "pwd='x",
  'API_KEY ',
  'secret: \\"',
  'token\n value',
  '<password>',
  'Cookie: a=b; ',
  'curl -u a:',
])('a text of nothing but %s takes linear time', (part) => {
  const timeOf = (count: number) => {
    const given = part.repeat(count);
    const began = process.cpuUsage();
    text(given);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  timeOf(1_000);
  const short = Math.max(20, timeOf(4_000));
  // Quadratic time would be a hundred times as long.
  expect(timeOf(40_000)).toBeLessThan(short * 40);
});
