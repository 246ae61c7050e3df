import { issue, issuedSecrets, nearMisses, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type SecretFormat, wordStart } from '../src/search/format-rules.ts';
import { searchFormats } from '../src/search/format-search.ts';
import { secretFormats } from '../src/search/secret-formats.ts';
import { distinctSecrets, replaceSecrets } from '../src/search/secret-search.ts';

const seed = 2315;

/** The first text for which a format does not agree with what its issuer issues; null if it always agrees. */
function disagreement(format: SecretFormat, { kind, anchors }: SecretFormat): string | null {
  const random = randomFrom(seed);
  const search = searchFormats([format]);
  const marked = (text: string) =>
    replaceSecrets(text, distinctSecrets(text, search.find(text)), () => '<secret>');
  const issued = issuedSecrets.filter((one) => one.kind === kind && one.anchor === anchors[0]);
  if (issued.length === 0) return 'nothing is issued';
  for (const one of issued) {
    for (const lengths of ['least', 'most', 'any', 'any', 'any'] as const) {
      const { text, secret } = issue(one, random, lengths);
      search.begin();
      search.add(text);
      if (!search.mayHave()) return text;
      if (marked(text) !== text.replace(secret, '<secret>')) return text;
      if (marked(`a "${text}" b`) !== `a "${text.replace(secret, '<secret>')}" b`) return text;
    }
    for (let round = 0; round < 3; round += 1)
      for (const { text } of nearMisses(one, random))
        if (search.find(`a "${text}" b`).length > 0) return text;
  }
  return null;
}

/** Formats that differ from one by one mistake. */
function mutantsOf(format: SecretFormat): (readonly [name: string, mutant: SecretFormat])[] {
  const { accepts, ...everything } = format;
  const { source } = format.expression;
  const changed: [name: string, source: string][] = lengthMutants(format);
  if (source.startsWith(wordStart)) {
    const rest = source.slice(wordStart.length);
    changed.push(['no start', rest]);
    changed.push(['a letter of the prefix is lost', wordStart + rest.replace(/[A-Za-z]/, '.')]);
  }
  const withoutEnd = source.replace(/\(\?!\[[^\]]*\]\)$/, '');
  if (withoutEnd !== source) changed.push(['no end', withoutEnd]);
  return [
    ...changed.map(([name, one]) => [name, { ...format, expression: new RegExp(one, 'g') }] as const),
    ...format.anchors.map(
      (anchor, index) =>
        [
          `another anchor than ${anchor}`,
          { ...format, anchors: format.anchors.with(index, `${anchor}\0`) },
        ] as const,
    ),
    ...(accepts === undefined ? [] : [['everything is accepted', everything] as const]),
  ];
}

/** One length of the secret is greater or less by one. The lengths around a secret only keep the time linear. */
function lengthMutants({ kind, expression: { source } }: SecretFormat): [name: string, source: string][] {
  if (kind === 'private-key' || kind === 'base64-secret') return [];
  const group = source.indexOf('(?<secret>');
  const start = group >= 0 ? group + 1 : source.startsWith(wordStart) ? wordStart.length : 0;
  const end = group >= 0 ? source.indexOf(')', start) : source.length;
  const mutants: [string, string][] = [];
  for (const { 0: found, 1: least, 2: comma, 3: most, index } of source.matchAll(/\{(\d+)(,?)(\d*)\}/g)) {
    if (index < start || index > end) continue;
    // Their check states the least length.
    const isChecked = least === '8' && /^(?:command-password|pgpass)$/.test(kind);
    const lengths = comma === '' ? [[Number(least)]] : [[Number(least)], [Number(most)]];
    for (const [side, [length = 0]] of lengths.entries())
      for (const other of [length - 1, length + 1].filter((one) => one >= (isChecked ? 8 : 0))) {
        const quantifier =
          comma === '' ? `{${other}}` : side === 0 ? `{${other},${most}}` : `{${least},${other}}`;
        const mutant = source.slice(0, index) + quantifier + source.slice(index + found.length);
        mutants.push([`${quantifier} for ${found} at ${index}`, mutant]);
      }
  }
  return mutants;
}

describe('the formats of secrets', () => {
  it.each(secretFormats.map((format) => [`${format.kind} (${format.anchors[0]})`, format] as const))(
    'agree with what the issuer issues: %s',
    (_, format) => expect(disagreement(format, format)).toBeNull(),
  );

  it('would be found if they had a mistake', () => {
    const mutants = secretFormats.flatMap((format) =>
      mutantsOf(format).map(([name, mutant]) => ({
        name: `${format.kind} (${format.anchors[0]}): ${name}`,
        format,
        mutant,
      })),
    );
    expect(mutants.length).toBeGreaterThan(200);
    const survivors = mutants.filter(({ mutant, format }) => disagreement(mutant, format) === null);
    expect(survivors.map(({ name }) => name)).toEqual([]);
  });
});
