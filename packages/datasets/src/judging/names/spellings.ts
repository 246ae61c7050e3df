import {
  capitalTitles,
  genericWords,
  isCommonWord,
  isFunctionWord,
  particles,
  plainTitles,
} from './common-words.ts';
import { fold } from './fold.ts';
import { type NameLanguage, type NameLanguageId, nameLanguages, nicknamesOf } from './languages.ts';

/** A player, or another agent, with everything that texts may call it. */
export interface NamedPerson {
  /** What stands in the place of its names. */
  readonly label: string;
  /** Its name, its ids and its later names. */
  readonly names: readonly string[];
  /** Further whole names, such as nicknames. */
  readonly aliases?: readonly string[] | undefined;
  /** The words of its name that stand for it alone. Absent: they are derived from the names. */
  readonly parts?: readonly string[] | undefined;
  /** Abbreviations that are names in capital letters only, such as `AL`. */
  readonly initials?: readonly string[] | undefined;
  /** Whether only its whole names are found, as for a game master. */
  readonly isHost?: boolean | undefined;
}

/** What the language of a log adds to the rules of English. */
export interface NameRules {
  readonly titles?: readonly string[] | undefined;
  /** Endings of names, by the end of the name that they replace: `{ "": ["s"], "a": ["y", "ie"] }`. */
  readonly inflections?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Words that are names only in the form of a name. */
  readonly words?: readonly string[] | undefined;
  /** Words that are not names. */
  readonly notNames?: readonly string[] | undefined;
  /** The languages of the log, whose endings, prefixes and titles count. */
  readonly languages?: readonly NameLanguageId[] | undefined;
  /** Whether the usual short forms of English names, such as `Bob` for Robert, are names. Absent: they are. */
  readonly nicknames?: boolean | undefined;
}

/** What stands in the place of a name that several players have, or that belongs to no player. */
export const somebody = 'somebody';

/**
 * How a spelling must be written to count as a name: in any way; with capital letters; in the form of a name
 * (`name-form.ts`); only where a mark shows that it is a name; as initials; all in capital letters.
 */
export type SpellingForm = 'any' | 'capitals' | 'name' | 'marked' | 'initials' | 'caps';

/** One way to write a name. */
export interface Spelling {
  readonly label: string;
  /** Its words, folded. Separators between them are optional in texts. */
  readonly tokens: readonly string[];
  /** Punctuation that the name has between its words, by the index of the word before. */
  readonly between: readonly string[];
  /** The whole name, folded, with the punctuation around it. */
  readonly raw: string;
  /** The name as it is written in the log. */
  readonly name: string;
  /** 0 for names, 1 for ids, 2 for aliases, 3 for parts and initials. The lowest rank decides who is meant. */
  readonly rank: number;
  readonly form: SpellingForm;
  /** Whether `s` may follow without an apostrophe. */
  readonly takesS: boolean;
}

const token = /\p{N}+|[\p{L}\p{M}]+|\p{S}\p{M}*/gu;
const isLetters = (text: string) => /^\p{L}/u.test(text);
const numberWords = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** The words of a name, with a border where `AnnLee` and `Player1` have one. */
function tokensOf(name: string): { tokens: string[]; between: string[]; raw: string } {
  const bordered = name
    .normalize('NFC')
    .replace(/(?<!^(?:Mc|Mac|De|Le|La|Van|Di|Du|Fitz|O))(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
  const { folded } = fold(bordered.trim());
  const found = [...folded.matchAll(token)];
  const raw = fold(name.trim()).folded;
  if (found.length === 0) return { tokens: folded === '' ? [] : [folded], between: [], raw };
  const between = found.slice(1).map(({ index }, at) => {
    const before = found[at];
    return before === undefined ? '' : folded.slice(before.index + before[0].length, index);
  });
  return { tokens: found.map(([text]) => numberless(text)), between, raw };
}

/** `007` and `7` are the same number. */
const numberless = (text: string) => (/^0+[0-9]/.test(text) ? text.replace(/^0+(?=[0-9])/, '') : text);

/** All spellings of a person's names. */
export function spellingsOf(person: NamedPerson, rules: NameRules, titles: Titles): Spelling[] {
  return new Spellings(person, rules, titles).list;
}

class Spellings {
  readonly list: Spelling[] = [];
  readonly #person: NamedPerson;
  readonly #rules: NameRules;
  readonly #titles: Titles;
  readonly #common: ReadonlySet<string>;
  readonly #languages: readonly NameLanguage[];

  constructor(person: NamedPerson, rules: NameRules, titles: Titles) {
    this.#person = person;
    this.#rules = rules;
    this.#titles = titles;
    this.#common = new Set((rules.words ?? []).map((word) => fold(word).folded));
    this.#languages = (rules.languages ?? []).map((id) => nameLanguages[id]);
    const { names, aliases = [], initials = [], parts = [], isHost = false } = person;
    for (const [at, name] of names.entries()) this.#addWhole(name, Math.min(at, 1));
    for (const alias of aliases) this.#addWhole(alias, 2);
    for (const name of initials) this.#add(name, tokensOf(name), 2, 'caps');
    for (const part of parts) this.#add(part, tokensOf(part), 3);
    if (!isHost) for (const name of names) this.#addDerived(name);
  }

  #isCommon(word: string): boolean {
    return isCommonWord(word) || this.#common.has(word);
  }

  #addWhole(name: string, rank: number): void {
    this.#add(name, tokensOf(name), rank);
    this.#addVariants(name, Math.max(rank, 2));
  }

  /** What people make of a name: without its title, before its colon, its words, its initials. */
  #addDerived(name: string): void {
    const segments = name
      .replace(/\s+/g, ' ')
      .split(/[:(),/|;\]["]+| [-–—] /)
      .map((segment) => segment.trim())
      .filter((segment) => /[\p{L}\p{N}]/u.test(segment));
    for (const segment of segments) {
      const words = wordsOf(segment).filter((word) => !this.#titles.has(fold(word).folded));
      if (words.length > 0 && words.join('').length > 1) this.#addPart(words.join(' '));
      const letters = words.filter((word) => this.#isNameWord(word));
      const numbered = /^\p{N}+号/u.exec(segment)?.[0];
      if (numbered !== undefined && numbered !== segment) this.#addPart(numbered);
      if (this.#rules.nicknames !== false) for (const word of letters.slice(0, 1)) this.#addNicknames(word);
      // Of `Player 1` and `Agent A` no word is a name by itself.
      if (this.#person.parts === undefined && words.length > 1)
        for (const word of letters) this.#addPart(word);
      for (const word of segment.split(/\s+/)) if (/\p{L}\p{Pd}\p{L}/u.test(word)) this.#addPart(word);
      if (letters.length === words.length) this.#addInitials(letters);
    }
  }

  /** The name with digraphs, and with its number as a word. */
  #addVariants(name: string, rank = 3): void {
    for (const variant of digraphsOf(name)) this.#add(variant, tokensOf(variant), rank);
    const { tokens, ...rest } = tokensOf(name);
    const spoken = tokens.map((word, at) => (at > 0 ? (numberWords[Number(word) - 1] ?? word) : word));
    if (spoken.join() !== tokens.join()) this.#add(name, { ...rest, tokens: spoken }, 3, 'any');
  }

  #addPart(name: string): void {
    this.#add(name, tokensOf(name), 3);
    this.#addVariants(name);
  }

  /** Short names, and those that are words, count in the form of a name only. */
  #addNicknames(word: string): void {
    for (const short of nicknamesOf(fold(word).folded)) {
      const isPlain = short.length > 3 && !this.#isCommon(short);
      this.#add(short, tokensOf(short), 4, isPlain ? 'any' : 'name');
    }
  }

  #addInitials(words: readonly string[]): void {
    if (words.length < 2 || words.length > 4) return;
    const last = words.at(-1) ?? '';
    let choices: Shortened[] = [{ words: [], hasInitial: false }];
    for (const [at, word] of words.slice(0, -1).entries())
      choices = choices.flatMap((before) => [
        { ...before, words: [...before.words, word] },
        ...initialsOf(word).map((initial) => ({ words: [...before.words, `${initial}.`], hasInitial: true })),
        ...(at > 0 ? [before] : []),
      ]);
    for (const { words: firsts, hasInitial } of choices) {
      this.#addTokens([...firsts, last], hasInitial ? 'initials' : undefined);
      for (const initial of initialsOf(last)) this.#addTokens([...firsts, initial], 'initials');
    }
  }

  #addTokens(words: readonly string[], form?: SpellingForm): void {
    const name = words.join(' ');
    this.#add(name, tokensOf(name), 3, form);
  }

  #isNameWord(word: string): boolean {
    const folded = fold(word).folded;
    return [...folded].length > 1 && isLetters(folded) && !particles.has(folded) && !genericWords.has(folded);
  }

  #add(name: string, of: ReturnType<typeof tokensOf>, rank: number, form = this.#formOf(of.tokens)): void {
    if (of.tokens.length === 0) return;
    const last = of.tokens.at(-1) ?? '';
    const takesS =
      form === 'any' &&
      last.length > 2 &&
      isLetters(last) &&
      !last.endsWith('s') &&
      !this.#isCommon(`${last}s`);
    const spelling: Spelling = { label: this.#person.label, name, ...of, rank, form, takesS };
    this.list.push(spelling);
    if (form === 'initials' || form === 'caps') return;
    const push = (tokens: string[]) =>
      this.list.push({ ...spelling, tokens, raw: tokens.join(''), rank: Math.max(rank, 3), takesS: false });
    for (const [end, endings] of this.#inflections()) {
      const folded = fold(end).folded;
      if (!last.endsWith(folded) || last.length - folded.length < 2) continue;
      const stem = last.slice(0, last.length - folded.length);
      for (const ending of endings) push([...of.tokens.slice(0, -1), stem + fold(ending).folded]);
    }
    const [first = '', ...others] = of.tokens;
    for (const { prefixes = [] } of this.#languages)
      if (first.length > 1) for (const prefix of prefixes) push([fold(prefix).folded + first, ...others]);
  }

  *#inflections(): Iterable<readonly [end: string, endings: readonly string[]]> {
    for (const { inflections = {} } of [this.#rules, ...this.#languages]) yield* Object.entries(inflections);
  }

  #formOf(tokens: readonly string[]): SpellingForm {
    const [first = ''] = tokens;
    if (tokens.length === 1) {
      if (isFunctionWord(first) || /^[0-9]+$/.test(first)) return 'marked';
      return this.#isCommon(first) || /^[a-z]$/.test(first) ? 'name' : 'any';
    }
    const words = tokens.filter((word) => !particles.has(word));
    return words.every((word) => isLetters(word) && this.#isCommon(word)) ? 'capitals' : 'any';
  }
}

/** The words of a name as they are written. An apostrophe does not end a word. */
function wordsOf(name: string): string[] {
  const bordered = name.replace(/(?<!^(?:Mc|Mac|De|Le|La|Van|Di|Du|Fitz|O))(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
  return bordered.split(/[\s_.\p{Pd}]+/u).filter((word) => word !== '');
}

interface Shortened {
  readonly words: readonly string[];
  readonly hasInitial: boolean;
}

/** Of `Þorvald`, `Th` and `T`. */
const initialsOf = (word: string): string[] => {
  const first = fold([...word.normalize('NFC')][0] ?? '').folded;
  return [...new Set([first, [...first][0] ?? ''])].filter((initial) => initial !== '');
};

const digraphs: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ø: 'oe', ü: 'ue', å: 'aa' };

/** `Mueller` for `Müller`. Folding finds `Muller`. */
function digraphsOf(name: string): string[] {
  const written = name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöøüå]/g, (letter) => digraphs[letter] ?? letter);
  return written === name.normalize('NFC').toLowerCase() ? [] : [written];
}

const longestTitle = 24;
const endingInTitle = /(?<![\p{L}\p{N}])(\p{L}+)\.?\s{1,3}$/u;

/** The titles before names, such as `Dr.` and `Miss`. */
export class Titles {
  readonly #plain: ReadonlySet<string>;

  constructor({ titles = [], languages = [] }: NameRules = {}) {
    const given = [...titles, ...languages.flatMap((id) => (nameLanguages[id] as NameLanguage).titles ?? [])];
    this.#plain = new Set([...plainTitles, ...given.map((title) => fold(title.replace(/\.$/, '')).folded)]);
  }

  has(word: string): boolean {
    return this.#plain.has(word) || capitalTitles.has(word);
  }

  /** Where the titles before a name begin; `from` if there are none. */
  startBefore(source: string, from: number): number {
    let start = from;
    while (/\s/.test(source.charAt(start - 1))) {
      const before = endingInTitle.exec(source.slice(Math.max(0, start - longestTitle), start));
      const word = before?.[1] ?? '';
      const folded = fold(word).folded;
      const isTitle = this.#plain.has(folded) || (capitalTitles.has(folded) && /^\p{Lu}/u.test(word));
      if (before === null || !isTitle) break;
      start -= before[0].length;
    }
    return start;
  }
}
