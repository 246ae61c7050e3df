/** A text without the differences between spellings: case, accents, width, ligatures and invisible characters. */
export interface Folded {
  /** The text in NFC. Positions in `starts` count its units. */
  readonly source: string;
  readonly folded: string;
  /** The source index of each unit of `folded`, and of the end; null if they are equal. */
  readonly starts: readonly number[] | null;
}

const ascii = /^[\0-\x7f]*$/;

export function fold(text: string): Folded {
  if (ascii.test(text)) return { source: text, folded: text.toLowerCase(), starts: null };
  const source = text.normalize('NFC');
  const starts: number[] = [];
  const pieces: string[] = [];
  let at = 0;
  for (const character of source) {
    const piece = foldCharacter(character);
    for (let unit = 0; unit < piece.length; unit += 1) starts.push(at);
    pieces.push(piece);
    at += character.length;
  }
  starts.push(at);
  return { source, folded: pieces.join(''), starts };
}

/** Letters without a decomposition. */
const letters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
};

const known = new Map<string, string>();
const knownLimit = 5000;

function foldCharacter(character: string): string {
  if (ascii.test(character)) return character.toLowerCase();
  const before = known.get(character);
  if (before !== undefined) return before;
  const lower = character
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase();
  const folded = [...lower].map((letter) => letters[letter] ?? letter).join('');
  if (known.size < knownLimit) known.set(character, folded);
  return folded;
}

const inAnyWord = /[\p{L}\p{N}]/u;
/** Scripts in which a name may be surrounded by letters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Whether the character at an index belongs to a word that spaces or punctuation delimit. */
export function isInWord(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  if (Number.isNaN(code)) return false;
  const isLow = code >= 0xdc00 && code <= 0xdfff;
  const character = String.fromCodePoint(text.codePointAt(isLow ? Math.max(0, index - 1) : index) ?? 0);
  return inAnyWord.test(character) && !unspaced.test(character);
}

const separators = /[\s_\p{Pd}]+/gu;

/** The normalised form of a name: equal for `Player 1`, `player_1` and `PLAYER1`, and for all encodings of `José`. */
export function spellingOf(name: string): string {
  const { folded } = fold(name.trim());
  return folded.replace(separators, '') || folded;
}
