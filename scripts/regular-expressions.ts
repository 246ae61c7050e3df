import { createContext, Script } from 'node:vm';

/** A regular expression literal of a source file. */
export interface FoundExpression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(?<=(?:^|[(,=:[!&|?{};+>]|\breturn|=>)\s*)\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/([dgimsuvy]*)/g;

/** The regular expression literals of a TypeScript source. Strings and comments are skipped. */
export function expressionsIn(file: string, text: string): FoundExpression[] {
  return [...text.matchAll(token)].flatMap(([, source, flags = '']) =>
    source === undefined ? [] : [{ file, source, flags }],
  );
}

const length = 40_000;
const limitMs = 250;
/** A part of it takes longer than this if the whole takes longer than the limit: linear work on it is done in a tenth of that. */
const part = { length: 10_000, limitMs: 2 };

const place = createContext({ work: () => {} });
const call = new Script('work()');

/**
 * A text for which the expression takes more than linear time; null if none is found. Tries repetitions of the
 * words and characters of the expression, after its first words and before characters that it does not match.
 */
export function slowText({ source, flags }: Pick<FoundExpression, 'source' | 'flags'>): string | null {
  if (!repeats(source)) return null;
  const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  for (const textOf of suspectsAmong(expression, [...hostileTextsFor(source)])) {
    const text = textOf(length);
    // A second attempt: the first may have met a busy machine.
    if (isSlow(expression, text) && isSlow(expression, text))
      return `${text.slice(0, 60)}…${text.slice(-20)}`;
  }
  return null;
}

/** Without `*`, `+`, `{n}` and back references an expression does bounded work at each character. */
function repeats(source: string): boolean {
  const plain = source.replace(/\\[^1-9k]|\[(?:\\.|[^\]\\])*\]/g, '.');
  return /[*+{]|\\[1-9k]/.test(plain);
}

type TextOf = (length: number) => string;

/** Those that take more than linear work when they are short. One call with a time limit tries many: such a call takes longer than most texts. */
function* suspectsAmong(expression: RegExp, texts: readonly TextOf[]): Generator<TextOf> {
  for (let at = 0; at < texts.length; at += 1) {
    let isSuspect = false;
    const isDone = runsWithin(() => {
      for (; at < texts.length && !isSuspect; at += 1) {
        const text = (texts[at] as TextOf)(part.length);
        const start = performance.now();
        for (const _ of text.matchAll(expression));
        isSuspect = performance.now() - start > part.limitMs;
      }
      at -= 1;
    }, 2 * limitMs);
    const textOf = texts[at];
    if (textOf !== undefined && (isSuspect || !isDone)) yield textOf;
  }
}

function isSlow(expression: RegExp, text: string): boolean {
  return !runsWithin(() => {
    for (const _ of text.matchAll(expression));
  }, limitMs);
}

function runsWithin(work: () => void, timeout: number): boolean {
  place.work = work;
  try {
    call.runInContext(place, { timeout });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Each makes a text of a length. */
function* hostileTextsFor(source: string): Generator<TextOf> {
  const words = wordsOf(source);
  const pumps = new Set([' ', 'a', 'A', '0', '_', '-', '.', '=', '/', '\t', 'aB', 'a0', '{"', ...words]);
  for (const word of words) for (const character of new Set(word)) pumps.add(character);
  for (const word of words) for (const other of words.slice(0, 6)) pumps.add(`${word}a${other}`);
  const starts = new Set(['', 'x\0', words[0] ?? '', words.slice(0, 2).join('a')]);
  for (const pump of pumps) {
    for (const start of starts)
      for (const end of ['\0', '\n', 'x!'])
        yield (length) => start + pump.repeat(Math.ceil(length / pump.length)) + end;
  }
}

/** What the expression names word for word, escapes resolved. */
function wordsOf(source: string): string[] {
  const plain = source
    .replace(/\(\?(?:[:=!]|<[=!]|<\w+>)/g, '(')
    .replace(/\\[pP]\{[^}]*\}|\\u\{?[0-9a-f]+\}?|\\[bBdDsSwWn0-9]|\{[\d,]+\}/gi, '\n')
    .replace(/\\(.)/g, '\n$1\n')
    .replace(/[()[\]^$|*+?.]/g, '\n');
  return [...new Set(plain.split('\n').filter((word) => word !== ''))].slice(0, 12);
}
