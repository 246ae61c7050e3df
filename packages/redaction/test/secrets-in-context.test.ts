import type { CapturedEvent, JsonValue } from '@hansard/events';
import { issue, issuedSecrets, randomFrom, sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../src/index.ts';

const random = randomFrom(77);
const { text, value, event, find } = createRedactor();
/** A token of each kind that has a prefix of its own. */
const tokens = issuedSecrets.filter(
  ({ before, parts }) => before === undefined && typeof parts[0] === 'string',
);
const key = issuedSecrets
  .filter(({ kind }) => kind === 'private-key')
  .map((one) => issue(one, random).secret);
const lines = (key.find((one) => one.includes('-----END')) as string).trim().split('\n');

const around: readonly (readonly [name: string, write: (secret: string) => string])[] = [
  ['a colour of a terminal', (secret) => `TOKEN=\u001b[33m${secret}\u001b[0m`],
  ['a colour as JSON', (secret) => JSON.stringify(`\u001b[1;33m${secret}\u001b[0m`)],
  ['a line end in JSON', (secret) => JSON.stringify({ stdout: `token:\n${secret}\n` })],
  ['a tab in JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ stdout: `id\t${secret}\t` }))],
  ['a percent-encoded character', (secret) => `https://host.example/?next=%2Fa%3Dt%3D${secret}&x=1`],
];

describe('a token is found after', () => {
  it.each(around)('%s', (_, write) => {
    for (const issued of tokens.filter(({ kind }) => kind !== 'private-key'))
      for (let round = 0; round < 5; round += 1) {
        const { secret } = issue(issued, random);
        const given = write(secret);
        const encoded = JSON.stringify(secret).slice(1, -1);
        expect(text(given).text, issued.kind).toBe(given.replace(encoded, `[REDACTED:${issued.kind}]`));
      }
  });
});

/** How tools and people write the lines of a file. */
const written: readonly (readonly [name: string, write: (line: string, index: number) => string])[] = [
  ['with numbers and arrows', (line, index) => `${String(index + 1).padStart(6)}→${line}`],
  ['with numbers and tabs', (line, index) => `${String(index + 1).padStart(6)}\t${line}`],
  ['quoted', (line) => `> ${line}`],
  ['added in a patch', (line) => `+${line}`],
  ['removed in a patch', (line) => `-${line}`],
  ['found by grep', (line, index) => `home/ann/.ssh/id_rsa:${index + 1}:${line}`],
  ['in a program', (line) => `  "${line}\\n" +`],
  ['in a comment', (line) => ` * ${line}`],
  ['indented', (line) => `    ${line}`],
];

describe('a private key is found whole', () => {
  it.each(written)('%s', (_, write) => {
    const shown = lines.map(write).join('\n');
    for (const given of [shown, JSON.stringify(shown), JSON.stringify(JSON.stringify(shown))]) {
      const { text: redacted, counts } = text(`before ${given} after`);
      expect(counts).toEqual({ 'private-key': 1 });
      for (const line of lines) expect(redacted).not.toContain(line.replaceAll('-', ''));
      expect(redacted).toMatch(/^before .*\[REDACTED:private-key\].* after$/s);
    }
  });

  it.each(written)('as the items of a list, %s', (_, write) => {
    const list = ['one', ...lines.map(write), 'two', 3];
    const given: JsonValue = { hunks: [{ lines: list }] };
    const redacted = value(given).value;
    for (const line of lines.slice(1, -1)) expect(JSON.stringify(redacted)).not.toContain(line.slice(0, 20));
    const items = (redacted as { hunks: { lines: JsonValue[] }[] }).hunks[0]?.lines ?? [];
    expect([items.length, items[0], items.at(-2), items.at(-1)]).toEqual([list.length, 'one', 'two', 3]);
    expect(find(given)).toEqual([{ field: '/hunks/0/lines', kind: 'private-key', count: lines.length }]);
    const sample = { ...sampleEvents['agent:text'], type: 'game:any', data: given } as CapturedEvent;
    expect(event(sample).data).toEqual({
      ...(redacted as object),
      redactions: { 'private-key': lines.length },
    });
  });

  it('leaves a list that only names one', () => {
    const given = ['-----BEGIN PRIVATE KEY-----', 'and then the lines', '-----END PRIVATE KEY-----'];
    expect(value(given)).toEqual({ value: given, counts: {} });
  });
});

describe('the password of a URL', () => {
  it.each(['%21a7Gq09xT%40', '$a7Gq09xT9', '{a7Gq09xT9', 'a7Gq@09xT9', '*a7', '[a7Gq', '%ab%cd9'])(
    'can be %s',
    (password) => {
      expect(text(`postgres://jill:${password}@db.example/shop`).text).toBe(
        'postgres://jill:[REDACTED:url-password]@db.example/shop',
      );
    },
  );

  it.each([
    '$PASSWORD',
    '$DB_PW_2',
    '$password',
    '\x24{PW}',
    '$(pw)',
    '{password}',
    '{{pw}}',
    '%s',
    '%PW%',
    '%(pw)s',
    '****',
    '[password]',
  ])('is not %s, which stands for one', (placeholder) => {
    const given = `postgres://jill:${placeholder}@db.example/shop`;
    expect(text(given).text).toBe(given);
  });
});

describe('a secret is found in', () => {
  const { secret } = issue(issuedSecrets.find(({ kind }) => kind === 'aws-access-key') as never, random);

  it('the place of a kind in `redactions`, at any depth', () => {
    const data = { text: 'x', redactions: { [secret]: 1 }, deep: { redactions: { [secret]: 2 } } };
    const redacted = event({ ...sampleEvents['agent:text'], data } as CapturedEvent);
    expect(JSON.stringify(redacted)).not.toContain(secret);
    const counted = { text: 'x', redactions: { 'github-token': 2, 'env-A_B': 1 } };
    const before = { ...sampleEvents['agent:text'], data: counted } as CapturedEvent;
    expect(event(before)).toBe(before);
  });

  it('fields of an event beside its data, and in their names', () => {
    const given = { ...sampleEvents['agent:text'], [secret]: 1, note: [`a ${secret}`] };
    const redacted = event(given as CapturedEvent) as unknown as Record<string, unknown>;
    expect(redacted).toMatchObject({
      id: given.id,
      '[REDACTED:aws-access-key]': 1,
      note: ['a [REDACTED:aws-access-key]'],
      data: { redactions: { 'aws-access-key': 2 } },
    });
    expect(JSON.stringify(redacted)).not.toContain(secret);
  });

  it('the names of fields of a record', () => {
    const task = { slug: 'one', created: '2026-03-01T09:30:00.000Z', name: 'n', [secret]: secret };
    const { value: redacted, counts } = createRedactor().task(task as never);
    expect(JSON.stringify(redacted)).not.toContain(secret);
    expect(counts).toEqual({ 'aws-access-key': 2 });
  });

  it('a value that is refused, such as the name of another key', () => {
    const given = '"password": "app_passphrase": "k3Jx9vQ2mZ7aB5"';
    expect(text(given).text).toBe('"password": "app_passphrase": "[REDACTED:secret-value]"');
  });

  it('the value of a variable that names a secret', () => {
    const secret = 'a7Gq09xTZb2LmN4pQ1';
    const env = (value: string) => [
      { name: 'API_KEY', value },
      { key: 'dbPassword', value },
      { name: 'PATH_PREFIX', value: 'a7Gq09xTZb2LmN4pQ1' },
    ];
    const redacted = env('[REDACTED:secret-value]');
    expect(value({ env: env(secret) })).toEqual({ value: { env: redacted }, counts: { 'secret-value': 2 } });
    expect(find({ env: env(secret) }).map(({ field }) => field)).toEqual(['/env/0/value', '/env/1/value']);
    const sample = {
      ...sampleEvents['agent:text'],
      type: 'game:any',
      data: { env: env(secret) },
    } as CapturedEvent;
    expect(event(event(sample))).toEqual(event(sample));
    expect(event(sample).data).toEqual({ env: redacted, redactions: { 'secret-value': 2 } });
  });

  it('a list whose key names a secret', () => {
    const given = { passwords: 1, password: ['a7Gq09xTZb2LmN4pQ1', 'plain'] };
    expect(value(given)).toEqual({
      value: { passwords: 1, password: ['[REDACTED:secret-value]', 'plain'] },
      counts: { 'secret-value': 1 },
    });
    expect(find(given)).toEqual([{ field: '/password/0', kind: 'secret-value', count: 1 }]);
    const sample = { ...sampleEvents['agent:text'], type: 'game:any', data: given } as CapturedEvent;
    expect(event(sample)).not.toBe(sample);
  });
});
