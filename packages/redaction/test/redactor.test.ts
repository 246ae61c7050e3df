import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonValue } from '@hansard/events';
import { corpus, isCorpusThere, randomFrom, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';

const random = randomFrom(15);
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const word = `${upper}${upper.toLowerCase()}0123456789`;
const of = (length: number, letters = word) =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');

/** For each kind a text, and the secret in it. */
const makers: readonly (readonly [kind: string, make: () => readonly [text: string, secret: string]])[] = [
  [
    'private-key',
    () => whole(`-----BEGIN RSA PRIVATE KEY-----\n${of(64)}\n${of(64)}\n-----END RSA PRIVATE KEY-----`),
  ],
  ['private-key', () => whole(`-----BEGIN OPENSSH PRIVATE KEY-----\\n${of(70)}\\n${of(30)}`)],
  ['jwt', () => whole(`eyJ${of(33)}.eyJ${of(60)}.${of(43)}`)],
  ['aws-access-key', () => whole(`AKIA${of(16, `${upper}234567`)}`)],
  ['aws-secret-key', () => after('aws_secret_access_key = ', of(40))],
  ['github-token', () => whole(`ghp_${of(36)}`)],
  ['github-token', () => whole(`github_pat_${of(22)}_${of(59)}`)],
  ['gitlab-token', () => whole(`glpat-a1${of(18)}`)],
  ['slack-token', () => whole(`xoxb-${of(12, '0123456789')}-${of(12, '0123456789')}-${of(24)}`)],
  [
    'slack-webhook',
    () => after('https://hooks.slack.com/services/', `T${of(8, upper)}/B${of(8, upper)}/${of(24)}`),
  ],
  ['stripe-key', () => whole(`sk_live_${of(24)}`)],
  ['google-api-key', () => whole(`AIzaSy1${of(32)}`)],
  ['google-client-secret', () => whole(`GOCSPX-${of(28)}`)],
  ['anthropic-key', () => whole(`sk-ant-api03-${of(93)}AA`)],
  ['openai-key', () => whole(`sk-proj-${of(74)}T3BlbkFJ${of(74)}`)],
  ['openai-key', () => whole(`sk-${of(20)}T3BlbkFJ${of(20)}`)],
  ['npm-token', () => whole(`npm_a1${of(34)}`)],
  ['pypi-token', () => whole(`pypi-AgEIcHlwaS5vcmc${of(150)}`)],
  ['sendgrid-key', () => whole(`SG.${of(22)}.${of(43)}`)],
  ['huggingface-token', () => whole(`hf_${of(34, upper)}`)],
  ['url-password', () => after('postgres://jill:', of(12), '@db.example:5432/x')],
  ['azure-key', () => after('AccountName=a;AccountKey=', `${of(86)}==`)],
];

function whole(secret: string): readonly [string, string] {
  return [secret, secret];
}

function after(before: string, secret: string, behind = ''): readonly [string, string] {
  return [`${before}${secret}${behind}`, secret];
}

const { text, event } = createRedactor();

describe('a redactor', () => {
  it.each(makers)('replaces a %s, and nothing around it', (kind, make) => {
    for (let round = 0; round < 50; round += 1) {
      const [planted, secret] = make();
      const [before, behind] = [`Say ${of(5)}: "`, `" (${of(30)})`];
      const expected = `${before}${planted.replace(secret, `[REDACTED:${kind}]`)}${behind}`;
      expect(text(`${before}${planted}${behind}`)).toEqual({ text: expected, counts: { [kind]: 1 } });
      expect(text(expected)).toEqual({ text: expected, counts: {} });
    }
  });

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    'the header is -----BEGIN RSA PRIVATE KEY----- and then lines',
    'postgres://user:password@host/db and https://$USER:$TOKEN@host',
    `ghp_${'a'.repeat(35)}`,
    `a longer word: xghp_${'a'.repeat(36)}`,
    'http://localhost:8080/a@b',
    'sk-ant-api03-...',
  ])('leaves what is not a secret: %s', (harmless) => {
    expect(text(harmless)).toEqual({ text: harmless, counts: {} });
  });

  it('replaces every secret in every text and key of the data of every type of event', () => {
    for (const [, make] of makers) {
      const secrets: string[] = [];
      const plant = (value: JsonValue): JsonValue => {
        const [planted, secret] = make();
        if (typeof value === 'string') {
          secrets.push(secret);
          return `${value} ${planted} ${of(4)}`;
        }
        if (Array.isArray(value)) return value.map(plant);
        if (typeof value !== 'object' || value === null) return value;
        const entries = Object.entries(value).map(([key, one]) => [key, plant(one as JsonValue)] as const);
        secrets.push(secret);
        return Object.fromEntries([...entries, [`${planted} ${of(4)}`, 1]]);
      };
      for (const sample of Object.values(sampleEvents)) {
        const planted = { ...sample, data: plant(sample.data as JsonValue) } as CapturedEvent;
        const redacted = JSON.stringify(event(planted));
        const leaked = secrets.filter((secret) => redacted.includes(JSON.stringify(secret).slice(1, -1)));
        expect(leaked).toEqual([]);
      }
      expect(secrets.length).toBeGreaterThan(50);
    }
  });

  it('keeps two keys that become equal', () => {
    const [first, second] = [`ghp_${of(36)}`, `ghp_${of(36)}`];
    const sample = { ...sampleEvents['agent:text'], type: 'game:keys', data: { [first]: 1, [second]: 2 } };
    expect(event(sample as CapturedEvent).data).toEqual({
      '[REDACTED:github-token]': 1,
      '[REDACTED:github-token] (2)': 2,
    });
  });

  it('returns an event without a secret itself', () => {
    for (const sample of Object.values(sampleEvents)) expect(event(sample)).toBe(sample);
  });

  it('replaces values of named environment variables, also in JSON and URLs', () => {
    const redactor = createRedactor({
      environment: ['A', 'SHORT', 'NONE'],
      env: { A: 'p"ss w/rd', SHORT: 'abc' },
    });
    const texts = ['x p"ss w/rd', JSON.stringify('p"ss w/rd'), '?q=p%22ss%20w%2Frd', 'abc'];
    expect(texts.map((one) => redactor.text(one).text)).toEqual([
      'x [REDACTED:env-A]',
      '"[REDACTED:env-A]"',
      '?q=[REDACTED:env-A]',
      'abc',
    ]);
    expect(createRedactor({ formats: false }).text(`ghp_${'a1'.repeat(18)}`).counts).toEqual({});
  });

  it.each([
    'eyJ',
    'eyJaaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\nA: b',
    '://a:b',
    '://',
    'sk-ant-api03-',
    'sk-aaaaaaaaaaaaaaaaaaaaT3BlbkFJ',
    'AKIA ghp_ ',
    'A',
  ])('takes linear time for 10 MB of %j', { timeout: 60_000 }, (piece) => {
    const timeFor = (bytes: number) => {
      const long = piece.repeat(Math.ceil(bytes / piece.length));
      const start = process.cpuUsage();
      text(long);
      const used = process.cpuUsage(start);
      return (used.user + used.system) / 1_000;
    };
    expect(timeFor(10_000_000)).toBeLessThan(20 * timeFor(2_000_000) + 500);
  });
});

it.skipIf(!isCorpusThere)('finds nothing in the transcripts of the corpus, which have no secret', () => {
  const files = readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
  expect(files.length).toBeGreaterThan(20);
  const hits = files.flatMap((name) =>
    readFileSync(join(corpus, name), 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const { counts } = text(line);
        return Object.keys(counts).map((kind) => `${name}:${index + 1} ${kind}`);
      }),
  );
  expect(hits).toEqual([]);
});
