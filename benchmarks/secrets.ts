/**
 * Counts how many of the secrets that issuers make, and of the syntaxes in which a key names one, Hansard and secretlint find whole. Prints
 * `docs/secrets.md`. No time is measured.
 */
import { createRedactor } from '@hansard/redaction';
import { issue, issuedSecrets, randomFrom, secretSyntaxes } from '@hansard/testing';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';

const rounds = 5;
const random = randomFrom(125);
const redactor = createRedactor();
const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] };

interface Row {
  readonly name: string;
  readonly texts: readonly { readonly text: string; readonly secret: string }[];
}

const kinds = Object.entries(Object.groupBy(issuedSecrets, ({ kind }) => kind)).map(
  ([name, all = []]): Row => ({
    name,
    texts: all.flatMap((one) => Array.from({ length: rounds }, () => issue(one, random))),
  }),
);
const letters = 'ABCDEFGHJKLNPQRSTUVWXYZabcdefghjkpqrstuvwxyz';
const secretOf = (length: number) =>
  Array.from({ length }, (_, at) => {
    const from = at % 3 === 2 ? '23456789' : letters;
    return from[Math.floor(random() * from.length)];
  }).join('');
const syntaxes = secretSyntaxes.map(
  (syntax): Row => ({
    name: syntax,
    texts: [16, 20, 40].map((length) => {
      const secret = secretOf(length);
      return { text: syntax.replace('‹›', secret), secret };
    }),
  }),
);

/** Whether no part of the secret with eight characters is left. */
function isWhole(replaced: string, secret: string): boolean {
  const found = replaced.replace(/\[REDACTED:[^\]]*\]/g, '');
  for (let at = 0; at + 8 <= secret.length; at += 1)
    if (found.includes(secret.slice(at, at + 8))) return false;
  return !found.includes(secret);
}

async function replacedBySecretlint(text: string): Promise<string> {
  const source = { content: text, filePath: 'a.txt', ext: '.txt', contentType: 'text' } as const;
  const { messages } = await lintSource({ source, options: { config } });
  const ranges = messages.map(({ range }) => range).sort((one, other) => other[0] - one[0]);
  return ranges.reduce((rest, [start, end]) => `${rest.slice(0, start)}[found]${rest.slice(end)}`, text);
}

async function printTable(title: string, what: string, rows: readonly Row[]): Promise<void> {
  let [ours, theirs] = [0, 0];
  const lines: string[] = [];
  for (const { name, texts } of rows) {
    const own = texts.filter(({ text, secret }) => isWhole(redactor.text(text).text, secret)).length;
    let peer = 0;
    for (const { text, secret } of texts) if (isWhole(await replacedBySecretlint(text), secret)) peer += 1;
    if (own === texts.length) ours += 1;
    if (peer === texts.length) theirs += 1;
    const share = (found: number) =>
      found === texts.length ? 'all' : found === 0 ? 'none' : `${found} of ${texts.length}`;
    lines.push(`| \`${JSON.stringify(name).slice(1, -1)}\` | ${share(own)} | ${share(peer)} |`);
  }
  console.log(`## ${title}\n`);
  console.log(`Found whole in every example: Hansard ${ours} of ${rows.length}, secretlint ${theirs}.\n`);
  console.log(`| ${what} | Hansard | secretlint |\n|---|---|---|\n${lines.join('\n')}\n`);
}

console.log(`# Secrets that are found

Written by \`benchmarks/secrets.ts\`, ${new Date().toISOString().slice(0, 10)}, beside secretlint with its recommended rules, in one run. Each kind has ${rounds} random examples for each
way in which it is issued, and each syntax three. A secret counts as found if no eight characters of it are left: secretlint reports some by their first line only. The examples are our own: they say what is
covered, not how often it occurs. What is left alone is in the tests of \`@hansard/redaction\`.
`);
await printTable('Kinds of issued secrets', 'kind', kinds);
await printTable('Syntaxes of a key that names a secret', 'syntax (`‹›` is the secret)', syntaxes);
