/** Finds names in texts in any spelling, so that none is missed. */
export interface NameFinder {
  /** Replaces each name in the text. `replace` gets the name as written and in its normalised form. */
  replace(text: string, replace: (found: string, spelling: string) => string): string;
}

export function createNameFinder(names: readonly string[]): NameFinder {
  const pattern = patternOf(names);
  return {
    replace(text, replace) {
      if (pattern === null) return text;
      const { source, folded, starts } = fold(text);
      let replaced = '';
      let end = 0;
      for (const { 0: match, index } of folded.matchAll(pattern)) {
        const from = starts?.[index] ?? index;
        const to = starts?.[index + match.length] ?? index + match.length;
        const found = source.slice(from, to);
        replaced += source.slice(end, from) + replace(found, spellingOf(found));
        end = to;
      }
      return end === 0 ? text : replaced + source.slice(end);
    },
  };
}

const separators = /[\s_\p{Pd}]+/gu;

/** The normalised form of a name: equal for `Player 1`, `player_1` and `PLAYER1`, and for all encodings of `José`. */
export function spellingOf(name: string): string {
  const { folded } = fold(name.trim());
  return folded.replace(separators, '') || folded;
}

/** Scripts in which a name may be surrounded by letters. */
const unspaced = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const inWord = String.raw`[[\p{L}\p{N}]--[${unspaced}]]`;
const beginsInWord = new RegExp(`^${inWord}`, 'v');
const endsInWord = new RegExp(`${inWord}$`, 'v');

/** Matches any of the names as a whole word, the longest first. */
function patternOf(names: readonly string[]): RegExp | null {
  const alternatives = [...new Set(names.map((name) => fold(name.trim()).folded))]
    .filter((name) => name !== '')
    .sort((one, other) => other.length - one.length)
    .map((name) => {
      const parts = name.split(separators).filter((part) => part !== '');
      const spelled = (parts.length === 0 ? [name] : parts).map(escapePattern).join(String.raw`[\s_\p{Pd}]*`);
      const before = beginsInWord.test(name) ? `(?<!${inWord})` : '';
      const after = endsInWord.test(name) ? `(?!${inWord})` : '';
      return before + spelled + after;
    });
  return alternatives.length === 0 ? null : new RegExp(alternatives.join('|'), 'gv');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

interface Folded {
  readonly source: string;
  readonly folded: string;
  /** The source index of each unit of `folded`, and of the end; null if they are equal. */
  readonly starts: readonly number[] | null;
}

const ascii = /^[\0-\x7f]*$/;

/** A text without the differences between spellings: case, accents, width and invisible characters. */
function fold(text: string): Folded {
  if (ascii.test(text)) return { source: text, folded: text.toLowerCase(), starts: null };
  const source = text.normalize('NFC');
  const starts: number[] = [];
  let folded = '';
  let at = 0;
  for (const character of source) {
    const piece = foldCharacter(character);
    for (let unit = 0; unit < piece.length; unit += 1) starts.push(at);
    folded += piece;
    at += character.length;
  }
  starts.push(at);
  return { source, folded, starts };
}

function foldCharacter(character: string): string {
  if (ascii.test(character)) return character.toLowerCase();
  return character
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase();
}
