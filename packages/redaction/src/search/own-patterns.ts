import { defineErrors } from '@hansard/events/hansard-error';
import type { RE2JS } from 're2js';
import { markersIn, type SecretRange } from './secret-search.ts';

/** The errors of redaction. */
export const redactionErrors = defineErrors('redaction', {
  REDACTION_PATTERN_INVALID: {
    when: 'A pattern of your own has a wrong name, is not a regular expression of RE2, is too large, or matches an empty text.',
    advice:
      'Correct the pattern that the message names. RE2 has no backreferences and no lookaround; a name has small letters, digits and `-`.',
    details: ['name'],
  },
});

/** Patterns of a user, by the kind of secret that each finds. */
export type OwnPatterns = Readonly<Record<string, string>>;

/** The longest match. A longer one is found in part. */
const reach = 4_096;
const windowLength = 4 * reach;
/** A text with more matches than both is replaced as a whole: each match can cost a window. */
const mostMatches = 100;
const charactersPerMatch = 1_000;
/** What a pattern costs for each character grows with its program. */
const largestProgram = 128;
const longestSource = 1_000;
const namePattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** The matches of a compiled pattern, or their groups `secret`, in linear time for every pattern and every text. */
export type OwnPattern = (text: string) => SecretRange[];

/** @throws REDACTION_PATTERN_INVALID, naming the pattern. Its source is in no message: it can be a secret. */
export function compilePatterns(patterns: OwnPatterns): OwnPattern[] {
  return Object.entries(patterns).map(([kind, source]) => {
    const expression = compile(kind, source);
    return (text) => piecesOf(text).flatMap((piece) => rangesIn(text, piece, kind, expression));
  });
}

/** What is around the markers of a text. */
function piecesOf(text: string): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  let start = 0;
  for (const marker of markersIn(text)) {
    pieces.push({ start, end: marker.start });
    start = marker.end;
  }
  return [...pieces, { start, end: text.length }];
}

function compile(kind: string, source: string): RE2JS {
  const fail = (reason: string) =>
    redactionErrors.error('REDACTION_PATTERN_INVALID', `The pattern ${JSON.stringify(kind)} ${reason}.`, {
      details: { name: kind },
    });
  if (!namePattern.test(kind)) throw fail('has a name other than at most 40 small letters, digits and "-"');
  if (typeof source !== 'string' || source.length > longestSource)
    throw fail(`must be a text of at most ${longestSource} characters`);
  const expression = parse(source);
  if (expression === null) throw fail('is not a regular expression of RE2');
  if (expression.programSize() > largestProgram)
    throw fail(`is too large: ${expression.programSize()} steps, and ${largestProgram} are allowed`);
  if (expression.test('')) throw fail('matches an empty text');
  return expression;
}

/** Null if the source is not an expression. The error of the library quotes the source. */
function parse(source: string): RE2JS | null {
  // Loaded here, so that only redactors with patterns need the time for it.
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  const { RE2JS, RE2JSException } = require('re2js') as typeof import('re2js');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    if (error instanceof RE2JSException) return null;
    throw error;
  }
}

/** The whole piece, if it has too many matches. */
function rangesIn(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  kind: string,
  expression: RE2JS,
): SecretRange[] {
  const piece = text.slice(start, end);
  const most = Math.max(mostMatches, piece.length / charactersPerMatch);
  const ranges: SecretRange[] = [];
  for (const [from, to] of matches(piece, expression)) {
    if (ranges.length >= most) return [{ start, end, kind }];
    ranges.push({ start: start + from, end: start + to, kind });
  }
  return ranges;
}

/**
 * The matches from left to right. One search takes linear time, but can read to the end for a match of one character, so
 * each search reads a window only. 1. A window begins with one character before the search, for `\b` and `^`. 2. If the first match
 * begins in the last `reach` of a window, the next window begins there: the end can have cut a match that begins before it.
 * 3. So no match that is shorter than `reach` is cut.
 */
function* matches(text: string, expression: RE2JS): Generator<readonly [start: number, end: number]> {
  const hasSecret = Object.hasOwn(expression.namedGroups(), 'secret');
  let at = 0;
  while (at < text.length) {
    const from = Math.max(0, at - 1);
    const end = Math.min(text.length, at + windowLength);
    const isLast = end === text.length;
    const matcher = expression.matcher(text.slice(from, end));
    if (!matcher.find(at - from)) {
      at = isLast ? end : end - reach;
      continue;
    }
    const start = from + matcher.start();
    if (!isLast && start > end - reach) {
      at = end - reach;
      continue;
    }
    const isNamed = hasSecret && matcher.start('secret') >= 0;
    yield isNamed
      ? [from + matcher.start('secret'), from + matcher.end('secret')]
      : [start, from + matcher.end()];
    at = Math.max(from + matcher.end(), start + 1);
  }
}
