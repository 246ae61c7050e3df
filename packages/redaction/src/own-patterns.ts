import type { RE2JS } from 're2js';
import { RedactionError } from './redaction-error.ts';

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
const marker = /(\[REDACTED:[A-Za-z0-9_-]{1,100}\])/;

/** A compiled pattern, in linear time for every pattern and every text. */
export interface OwnPattern {
  /** Replaces each match, or the group `secret` of it, by what `mark` returns. Markers in the text stay. */
  replace(text: string, mark: (kind: string) => string): string;
}

/** @throws REDACTION_PATTERN_INVALID, naming the pattern. Its source is in no message: it can be a secret. */
export function compilePatterns(patterns: OwnPatterns): OwnPattern[] {
  return Object.entries(patterns).map(([kind, source]) => {
    const expression = compile(kind, source);
    return {
      replace: (text, mark) =>
        text
          .split(marker)
          .map((piece, index) => (index % 2 === 1 ? piece : replacePiece(piece, kind, expression, mark)))
          .join(''),
    };
  });
}

function compile(kind: string, source: string): RE2JS {
  const fail = (reason: string) =>
    new RedactionError('REDACTION_PATTERN_INVALID', `The pattern ${JSON.stringify(kind)} ${reason}.`, {
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

function replacePiece(text: string, kind: string, expression: RE2JS, mark: (kind: string) => string): string {
  const most = Math.max(mostMatches, text.length / charactersPerMatch);
  const ranges: (readonly [start: number, end: number])[] = [];
  for (const range of matches(text, expression)) {
    if (ranges.length >= most) return mark(kind);
    ranges.push(range);
  }
  let replaced = '';
  let copied = 0;
  for (const [start, end] of ranges) {
    if (start === end) continue;
    replaced += text.slice(copied, start) + mark(kind);
    copied = end;
  }
  return replaced + text.slice(copied);
}

/**
 * The matches from left to right. One search takes linear time, but can read to the end for a match of one character, so
 * each search reads a window only. 1. A window begins with one character before the search, for `\b` and `^`. 2. A match
 * that begins in the last `reach` of a window is searched again from where it begins. 3. So no match that is shorter than `reach` is cut.
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
    if (!isLast && start > at && start > end - reach) {
      at = start;
      continue;
    }
    const isNamed = hasSecret && matcher.start('secret') >= 0;
    yield isNamed
      ? [from + matcher.start('secret'), from + matcher.end('secret')]
      : [start, from + matcher.end()];
    at = Math.max(from + matcher.end(), start + 1);
  }
}
