import { shortened } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { issue, issuedSecrets, randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const redactor = createRedactor();
/** A part with this number of characters must not be shown. */
const partLength = 8;

/** Keys have lines, of which a text of one line has only the first. */
const ofOneLine = issuedSecrets.filter(({ kind }) => kind !== 'private-key');
/** Of the kinds of a run. */
const share = 12;

it.each([
  ['a space', ' '],
  ['a quotation mark', '"'],
  ['an assignment', ' TOKEN='],
])(
  `a text that is shortened after %s has a whole secret, or nothing of it (HANSARD_SEED=${seed})`,
  (_, before) => {
    const random = randomFrom(seed);
    const found = { whole: 0, none: 0 };
    for (const format of ofOneLine.filter(() => random() * share < 1))
      for (let longest = 60; longest <= 200; longest += 7) {
        const { text, secret } = issue(format, random, 'any');
        const start = Math.floor(random() * longest);
        const long = `${'word '.repeat(50).slice(0, start)}${before}${text} and further words that are not short`;
        const short = shortened(long, longest);
        const shown = redactor.text(short).text;
        for (let at = 0; at + partLength <= secret.length; at += 1)
          expect(shown, `${format.kind} at ${start} of ${longest}`).not.toContain(
            secret.slice(at, at + partLength),
          );
        found[short.includes(secret) ? 'whole' : 'none'] += 1;
      }
    expect(Math.min(found.whole, found.none)).toBeGreaterThan(20);
  },
);
