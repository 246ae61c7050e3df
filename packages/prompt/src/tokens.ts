import type { ContextManifest } from './context/context-manifest.ts';
import type { TokenCounter } from './context/context-policy.ts';

export type { TokenCounter } from './context/context-policy.ts';

const encodings = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
} as const;

export type TokenEncoding = keyof typeof encodings;

export const tokenEncodings = Object.keys(encodings) as readonly TokenEncoding[];

export interface TokenCounterOptions {
  /** Absent: `o200k_base`. */
  readonly encoding?: TokenEncoding;
}

/** Text with a longer run without a break is counted in pieces of this many characters: the library takes quadratic time for a run. */
const longestRun = 256;

/**
 * Creates a counter that uses the gpt-tokenizer library, of which two encodings are part of this package. It counts as the
 * models of OpenAI do; other models have other tokenizers, so leave a reserve.
 *
 * @throws TypeError for an unknown encoding
 */
export async function createTokenCounter({
  encoding = 'o200k_base',
}: TokenCounterOptions = {}): Promise<TokenCounter> {
  const load = encodings[encoding];
  if (load === undefined)
    throw new TypeError(`Unknown encoding ${encoding}; use ${tokenEncodings.join(' or ')}.`);
  const { countTokens } = await load();
  // A special token that is quoted in a text counts as text.
  const count = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
  return {
    id: `gpt-tokenizer/${encoding}`,
    count(text) {
      if (!hasLongRun(text)) return count(text);
      let tokens = 0;
      for (const piece of piecesOf(text)) tokens += count(piece);
      return tokens;
    },
  };
}

/** The counter for a context: the one that its manifest names if it is available, otherwise the default. */
export async function contextCounters(recorded: ContextManifest | null): Promise<readonly TokenCounter[]> {
  const named = tokenEncodings.find((encoding) => recorded?.tokens?.counter === `gpt-tokenizer/${encoding}`);
  return [await createTokenCounter(named === undefined ? {} : { encoding: named })];
}

/** Searches backwards from the first position where a run would be too long, so that most characters are skipped. */
function hasLongRun(text: string): boolean {
  let start = 0;
  while (start + longestRun < text.length) {
    let at = start + longestRun;
    const isBreak = isSpace(text.charCodeAt(at));
    while (at > start && isSpace(text.charCodeAt(at - 1)) === isBreak) at -= 1;
    if (at === start) return true;
    start = at;
  }
  return false;
}

/** ASCII only; other spaces do not end a run. */
function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + longestRun);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}
