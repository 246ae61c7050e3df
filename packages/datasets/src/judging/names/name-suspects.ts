import { isCommonWord, isFunctionWord } from './common-words.ts';
import { fold } from './fold.ts';
import { startsSentence } from './name-form.ts';
import { type NamedPerson, type NameRules, spellingsOf, Titles } from './spellings.ts';

/**
 * Why a word still looks like a name: it is spelled almost like one; it begins or ends with one; one begins with it; it is
 * a common word with a capital letter that did not have the form of a name; or it has the initials of a name.
 */
type SuspectReason = 'near' | 'contains' | 'short' | 'unclear' | 'initials';

/** A word of hidden texts that still looks like a name. */
export interface NameSuspect {
  /** The word as it was written the first time. */
  readonly word: string;
  readonly reason: SuspectReason;
  /** The names that it looks like. */
  readonly names: readonly string[];
  readonly count: number;
  /** The first places, as passed to `add`. */
  readonly places: readonly string[];
}

interface Resemblance {
  readonly reason: SuspectReason;
  readonly names: readonly string[];
  /** When the word counts: always, with a capital letter, with one within a sentence, or in capitals only. */
  readonly when: 'always' | 'capital' | 'inside' | 'caps';
}

const [shownPlaces, knownLimit] = [5, 200_000];

const [shortestNear, shortestInside, longestEnding, longestWord] = [4, 5, 4, 40];

/** Collects what still looks like a part of a name in texts whose names have been replaced. */
export class NameSuspects {
  readonly #names = new Map<string, Set<string>>();
  readonly #initials = new Map<string, Set<string>>();
  readonly #starts = new Map<string, Set<string>>();
  readonly #labels: ReadonlySet<string>;
  readonly #near: NearWords;
  readonly #known = new Map<string, readonly Resemblance[]>();
  readonly #found = new Map<string, { first: NameSuspect; count: number; places: string[] }>();
  readonly #words: ReadonlySet<string>;
  readonly #notNames: ReadonlySet<string>;

  constructor(people: readonly NamedPerson[], rules: NameRules = {}) {
    const titles = new Titles(rules);
    this.#words = new Set((rules.words ?? []).map((word) => fold(word).folded));
    this.#notNames = new Set((rules.notNames ?? []).map((word) => fold(word).folded));
    const players = people.filter(({ isHost }) => isHost !== true);
    this.#labels = new Set(people.flatMap(({ label }) => label.toLowerCase().split(' ')));
    for (const person of players) {
      const [name = ''] = person.names;
      // What resembles a short form would be half of the words.
      for (const { tokens, form } of spellingsOf(person, { ...rules, nicknames: false }, titles)) {
        const letters = tokens.filter((token) => /^\p{L}{2}/u.test(token));
        const only = letters.length === tokens.length;
        if (only && letters.join('').length > 1 && form !== 'initials')
          note(this.#names, letters.join(''), name);
        if (only && letters.length > 1)
          note(this.#initials, letters.map((token) => token.charAt(0)).join(''), name);
      }
    }
    for (const [word, names] of this.#names)
      for (let end = 3; end < word.length; end += 1)
        for (const name of names) note(this.#starts, word.slice(0, end), name);
    this.#near = new NearWords([...this.#names.keys()].filter((name) => name.length >= shortestNear));
  }

  /** `place` is where the text is, for the report. */
  add(text: string, place: string): void {
    const source = readable(text.normalize('NFC'));
    for (const { 0: word, index } of source.matchAll(/\p{L}[\p{L}\p{M}]*/gu)) {
      if (word.length < 2 || word.length > longestWord) continue;
      const { folded } = fold(word);
      if (this.#notNames.has(folded)) continue;
      const resemblances = this.#resemblancesOf(folded);
      const found = resemblances.find(({ when }) => {
        const isCapital = /^\p{Lu}/u.test(word);
        if (when === 'always') return true;
        if (when === 'caps') return word === word.toUpperCase();
        return (
          isCapital && (when === 'capital' || !startsSentence(source.slice(Math.max(0, index - 48), index)))
        );
      });
      if (found !== undefined) this.#count(word, found, place);
    }
  }

  /** The most frequent first. */
  list(): NameSuspect[] {
    return [...this.#found.values()]
      .map(({ first, count, places }) => ({ ...first, count, places }))
      .sort((one, other) => other.count - one.count || (one.word < other.word ? -1 : 1));
  }

  #count(word: string, { reason, names }: Resemblance, place: string): void {
    const key = `${reason} ${fold(word).folded}`;
    const found = this.#found.get(key) ?? {
      first: { word, reason, names, count: 0, places: [] },
      count: 0,
      places: [],
    };
    this.#found.set(key, found);
    found.count += 1;
    if (found.places.length < shownPlaces && found.places.at(-1) !== place) found.places.push(place);
  }

  #resemblancesOf(word: string): readonly Resemblance[] {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const made = this.#labels.has(word) ? [] : this.#compare(word);
    if (this.#known.size < knownLimit) this.#known.set(word, made);
    return made;
  }

  #compare(word: string): readonly Resemblance[] {
    const made: Resemblance[] = [];
    const same = this.#names.get(word);
    // Another word is in the text only beside digits, in an encoding or with marks inside.
    if (same !== undefined)
      return [{ reason: 'unclear', names: [...same], when: isCommonWord(word) ? 'capital' : 'always' }];
    const initials = this.#initials.get(word);
    if (initials !== undefined && !isFunctionWord(word))
      made.push({ reason: 'initials', names: [...initials], when: 'caps' });
    if (isCommonWord(word) || this.#words.has(word)) return made;
    const near = this.#near.of(word);
    if (near.length > 0 && word.length >= shortestNear) {
      const isSure = near.some(
        (name) => name.length >= shortestInside && name[0] === word[0] && !isCommonWord(name),
      );
      made.push({ reason: 'near', names: this.#namesOf(near), when: isSure ? 'always' : 'inside' });
    }
    const within = this.#within(word);
    if (within.length > 0) {
      const isSure = within.some((name) => name.length >= shortestInside && !isCommonWord(name));
      made.push({ reason: 'contains', names: this.#namesOf(within), when: isSure ? 'always' : 'inside' });
    }
    const starts = this.#starts.get(word);
    if (starts !== undefined) made.push({ reason: 'short', names: [...starts], when: 'inside' });
    return made;
  }

  /** The names with which the word begins or, from five letters on, ends. */
  #within(word: string): string[] {
    const found: string[] = [];
    for (let end = 3; end < word.length; end += 1) {
      const start = word.slice(0, end);
      if ((end >= shortestInside || word.length - end <= longestEnding) && this.#names.has(start))
        found.push(start);
      const tail = word.slice(word.length - end);
      if (end >= shortestInside && this.#names.has(tail)) found.push(tail);
    }
    return found;
  }

  #namesOf(words: readonly string[]): string[] {
    return [...new Set(words.flatMap((word) => [...(this.#names.get(word) ?? [])]))];
  }
}

/** A text as a reader sees it: without marks of emphasis inside words, and with the characters of escapes. */
function readable(text: string): string {
  return text
    .replace(/\\[nrt]/g, ' ')
    .replace(/(?:\\u|%)([0-9a-fA-F]{2,4})/g, (found, digits: string) => decoded(found, digits))
    .replace(/(?<=\p{L})[*~`]{1,3}(?=\p{L})/gu, '');
}

/** Escapes of ASCII: a name in another script is written so as a whole. */
function decoded(found: string, digits: string): string {
  const length = found.startsWith('%') ? 2 : 4;
  if (digits.length < length) return found;
  const code = Number.parseInt(digits.slice(0, length), 16);
  return (code < 128 ? String.fromCharCode(code) : ' ') + digits.slice(length);
}

function note(map: Map<string, Set<string>>, key: string, name: string): void {
  const names = map.get(key);
  if (names === undefined) map.set(key, new Set([name]));
  else names.add(name);
}

/** The words of a list that are near a word: at most one or two letters are missing, added, changed or swapped. */
class NearWords {
  readonly #words: readonly { readonly word: string; readonly letters: number; readonly reach: number }[];

  constructor(words: Iterable<string>) {
    this.#words = [...new Set(words)].map((word) => ({
      word,
      letters: lettersOf(word),
      reach: word.length < 7 ? 1 : 2,
    }));
  }

  /** An edit changes the set of letters in at most two places, which rules out most words without a comparison. */
  of(word: string): string[] {
    const letters = lettersOf(word);
    const near: string[] = [];
    for (const { word: other, letters: theirs, reach } of this.#words) {
      if (Math.abs(other.length - word.length) > reach || bitsOf(letters ^ theirs) > 2 * reach) continue;
      if (other !== word && distance(word, other) <= reach) near.push(other);
    }
    return near;
  }
}

/** A bit for each letter of a word. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsOf(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** The number of letters to add, remove, change or swap with the next one. */
function distance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [
    [],
    Array.from({ length: other.length + 1 }, (_, at) => at),
  ];
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
