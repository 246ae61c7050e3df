import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonValue } from '@hansard/events';
import { corpus, isCorpusThere, issue, issuedSecrets, randomFrom, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';

const random = randomFrom(15);
/** For each kind a text, and the secret in it. */
const makers = issuedSecrets.map((issued) => [issued.kind, () => issue(issued, random)] as const);
const of = (length: number) => Array.from({ length }, () => Math.floor(random() * 36).toString(36)).join('');
const make = (kind: string) => makers.find(([one]) => one === kind)?.[1]().secret ?? '';

const createdOnce = createRedactor();
const { text, event } = createdOnce;

describe('a redactor', () => {
  it.each(makers)('replaces a %s, and nothing around it', (kind, make) => {
    for (let round = 0; round < 15; round += 1) {
      const { text: planted, secret } = make();
      const [before, behind] = [`Say ${of(5)}: "`, `" (${of(30)})`];
      const expected = `${before}${planted.replace(secret, `[REDACTED:${kind}]`)}${behind}`;
      expect(text(`${before}${planted}${behind}`)).toEqual({ text: expected, counts: { [kind]: 1 } });
      expect(text(expected)).toEqual({ text: expected, counts: {} });
    }
  });

  it('replaces the password of the shortest URL', () => {
    expect(text('://:p@h').text).toBe('://:[REDACTED:url-password]@h');
    expect(text('db://me:pq@host').text).toBe('db://me:[REDACTED:url-password]@host');
  });

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    'the header is -----BEGIN RSA PRIVATE KEY----- and then lines',
    'postgres://user:password@host/db and https://$USER:$TOKEN@host',
    `ghp_${'a'.repeat(35)}`,
    `ghp_${'a'.repeat(36)}`,
    `npm_${'a1'.repeat(18)}`,
    'a longer word: x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',
    '{"password": "hunterhunter2", "secret": "the-villagers-win-2024", "apiKey": "<API_KEY_2_a1b2>"}',
    '"accessToken": "https://a1b2c3d4.example/9z8y"',
    'Authorization: Bearer $TOKEN_1a2b3c4d5e6f7g8h9',
    'http://localhost:8080/a@b',
    'sk-ant-api03-...',
  ])('leaves what is not a secret: %s', (harmless) => {
    expect(text(harmless)).toEqual({ text: harmless, counts: {} });
  });

  it('replaces every secret in every text and key of the data of every type of event', () => {
    for (const [, make] of makers) {
      const secrets: string[] = [];
      const plant = (value: JsonValue): JsonValue => {
        const { text: planted, secret: issued } = make();
        // A password of a few characters also occurs by chance.
        const secret = issued.length < 6 ? planted : issued;
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
        // No pattern is searched in the bytes of a content.
        const { base64: _, ...texts } = sample.data;
        const planted = { ...sample, data: plant(texts as JsonValue) } as CapturedEvent;
        const redacted = JSON.stringify(event(planted));
        const leaked = secrets.filter((secret) => redacted.includes(JSON.stringify(secret).slice(1, -1)));
        expect(leaked).toEqual([]);
      }
      expect(secrets.length).toBeGreaterThan(50);
    }
  });

  it('keeps two keys that become equal', () => {
    const [first, second] = [make('github-token'), make('github-token')];
    const sample = { ...sampleEvents['agent:text'], type: 'game:keys', data: { [first]: 1, [second]: 2 } };
    expect(event(sample as CapturedEvent).data).toEqual({
      '[REDACTED:github-token]': 1,
      '[REDACTED:github-token] (2)': 2,
      redactions: { 'github-token': 2 },
    });
  });

  it('knows the tokens that were published as examples, with their checksums', () => {
    const published = [
      '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',
      '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',
    ];
    expect(published.map((one) => text(one).text)).toEqual([
      '[REDACTED:github-token]',
      '[REDACTED:npm-token]',
    ]);
  });

  it('replaces a value that looks random if its key names a secret', () => {
    const data = {
      password: 'k3Jx-9vQ2!mZ7',
      aws: { SecretAccessKey: 'a1B2c3D4e5F6g7' },
      next_token: 'k3Jx-9vQ2!mZ7',
      user_secret: 'red',
    };
    const sample = { ...sampleEvents['agent:text'], type: 'game:keys', data };
    expect(event(sample as CapturedEvent).data).toEqual({
      password: '[REDACTED:secret-value]',
      aws: { SecretAccessKey: '[REDACTED:secret-value]' },
      next_token: 'k3Jx-9vQ2!mZ7',
      user_secret: 'red',
      redactions: { 'secret-value': 2 },
    });
    expect(event(event(sample as CapturedEvent))).toEqual(event(sample as CapturedEvent));
  });

  it('changes an event exactly if its data would change', () => {
    const own = createRedactor({
      patterns: { badge: 'B[0-9]{5}' },
      environment: ['A'],
      env: { A: 'opensesame' },
    });
    const harmless = [
      'plain',
      'http://localhost:8080/a@b',
      'a1B2c3D4e5F6g7',
      'AKIAIOSFODNN7EXAMPLE',
      '"key": "x"',
    ];
    const secrets = ['B12345', 'opensesame', ...makers.map(([, make]) => make().text)];
    const keys = ['text', 'password', 'api_key', 'token', 'items'];
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const build = (depth: number): JsonValue => {
      if (depth > 0 && random() < 0.4) return Array.from({ length: 3 }, () => build(depth - 1));
      if (depth > 0 && random() < 0.6)
        return Object.fromEntries(
          [0, 1, 2].map(() => [random() < 0.03 ? pick(secrets) : pick(keys), build(depth - 1)]),
        );
      return random() < 0.06 ? pick(secrets) : pick<JsonValue>([...harmless, 7, true, null]);
    };
    const sums = { changed: 0, same: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const sample = {
        ...sampleEvents['agent:text'],
        type: 'game:any',
        data: { first: build(3) },
      } as CapturedEvent;
      for (const redactor of [createdOnce, own]) {
        const { value, counts } = redactor.value(sample.data as JsonValue);
        const redacted = redactor.event(sample);
        expect(redacted === sample).toBe(Object.keys(counts).length === 0);
        if (redacted === sample) expect(value).toBe(sample.data);
        else expect(redacted.data).toEqual({ ...(value as object), redactions: counts });
        sums[redacted === sample ? 'same' : 'changed'] += 1;
      }
    }
    expect(Math.min(sums.same, sums.changed)).toBeGreaterThan(400);
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
    expect(createRedactor({ formats: false }).text(make('github-token')).counts).toEqual({});
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
    '"password":"',
    `ghp_${'a'.repeat(36)}`,
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
