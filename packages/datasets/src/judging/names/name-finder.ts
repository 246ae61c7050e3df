import { fold, isInWord } from './fold.ts';
import { hasForm } from './name-form.ts';
import {
  type NamedPerson,
  type NameRules,
  type Spelling,
  somebody,
  spellingsOf,
  Titles,
} from './spellings.ts';

const newNode = (): TreeNode => ({ children: new Map(), breaks: null, spellings: [] });

/** More separators than this end a name. */
const longestGap = 8;

const separator = /[\s_'’‘ʼ`´′\p{Pd}]/u;

const asciiSeparator = new Set([..."\t\n\r _'`-"].map((character) => character.charCodeAt(0)));

/** Finds the names of people in texts, in any spelling that `docs/blind-judging.md` lists. */
export interface NameFinder {
  /** The text with labels in the place of names, and the number of names. */
  replace(text: string): { readonly text: string; readonly count: number };
}

interface Match {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** Where the search continues in the folded text. */
  readonly next: number;
}

/**
 * The longest spelling at the earliest position wins. Time is linear in the text: at each start of a word, the
 * search goes down a tree of names, which are at most 200 characters long.
 */
export function createNameFinder(people: readonly NamedPerson[], rules: NameRules = {}): NameFinder {
  const titles = new Titles(rules);
  const tree = new NameTree(people, rules, titles);
  const begins = tree.firstUnits();
  return {
    replace(text) {
      const search = new NameSearch(text, tree, titles);
      const { folded, source } = search;
      let [replaced, end, count, latest] = ['', 0, 0, ''];
      for (let at = 0; at < folded.length; ) {
        const match =
          begins.has(folded.charCodeAt(at)) && isStart(folded, at) ? search.matchAt(at, end) : null;
        if (match === null) {
          at += 1;
          continue;
        }
        // `Ann B. Lee` is one name.
        const gap = source.slice(end, match.from);
        const isSame = count > 0 && match.label === latest && /^\s\p{Lu}\.\s$/u.test(gap);
        if (!isSame) {
          replaced += gap + match.label;
          count += 1;
        }
        [end, latest, at] = [match.to, match.label, Math.max(match.next, at + 1)];
      }
      return count === 0 ? { text, count } : { text: replaced + source.slice(end), count };
    },
  };
}

/** The search for names in one text. `end` is where the name before ends in the text as it is written. */
class NameSearch {
  readonly source: string;
  readonly folded: string;
  readonly #starts: ReturnType<typeof fold>['starts'];
  readonly #first: number;
  readonly #last: number;
  readonly #tree: NameTree;
  readonly #titles: Titles;

  constructor(text: string, tree: NameTree, titles: Titles) {
    const { source, folded, starts } = fold(text);
    this.source = source;
    this.folded = folded;
    this.#starts = starts;
    this.#first = source.search(/\S/);
    this.#last = source.trimEnd().length;
    this.#tree = tree;
    this.#titles = titles;
  }

  matchAt(start: number, end: number): Match | null {
    const { source, folded } = this;
    let best: Match | null = null;
    for (const { spellings, end: stop } of this.#tree.walk(folded, start)) {
      if (!isEnd(folded, stop) && !isS(folded, stop)) continue;
      const [from, to] = [this.#indexOf(start), this.#indexOf(stop)];
      const titled = Math.max(end, this.#titles.startBefore(source, from));
      const isWhole = from === this.#first && to === this.#last;
      const fits = spellings.filter(
        (spelling) =>
          (hasForm(spelling.form, { source, from, to, titled, isWhole }) ||
            this.#punctuated(spelling, start, stop, end) !== null) &&
          (isEnd(folded, stop) || (spelling.takesS && isS(folded, stop))),
      );
      if (fits.length === 0) continue;
      const { label } = meant(fits, source.slice(from, to), folded.slice(start, stop));
      const whole = fits
        .map((spelling) => this.#punctuated(spelling, start, stop, end))
        .find((found) => found !== null);
      best =
        whole != null
          ? { from: this.#indexOf(whole.from), to: this.#indexOf(whole.to), label, next: whole.to }
          : this.#widened(label, fits, stop, Math.min(titled, from));
    }
    return best;
  }

  #indexOf(at: number): number {
    return this.#starts?.[at] ?? at;
  }

  /** Where a name with punctuation around it, such as `Mr. (X)`, stands as it is in the log. */
  #punctuated(
    { raw }: Spelling,
    start: number,
    stop: number,
    end: number,
  ): { from: number; to: number } | null {
    const from = start - raw.indexOf(this.folded.charAt(start));
    const to = from + raw.length;
    if (from > start || to < stop || (from === start && to === stop)) return null;
    return from >= 0 && this.#indexOf(from) >= end && this.folded.startsWith(raw, from) ? { from, to } : null;
  }

  /** With the titles before the name, from `titled` on, and the full stop of an initial. */
  #widened(label: string, fits: readonly Spelling[], stop: number, titled: number): Match {
    const to = this.#indexOf(stop);
    const isAbbreviated = fits.every(({ form }) => form === 'initials') && !isInWord(this.folded, stop - 2);
    const dot = isAbbreviated && /^\.(?=[\s,;:'’]*[\p{Ll},;:'’])/u.test(this.source.slice(to, to + 8));
    return { from: titled, to: to + (dot ? 1 : 0), label, next: stop + (dot ? 1 : 0) };
  }
}

interface Chosen {
  readonly label: string;
}

/** The person whose name is written so; else the one whose name it is rather than a part; else nobody in particular. */
function meant(fits: readonly Spelling[], written: string, folded: string): Chosen {
  const spellings = [...fits].sort((one, other) => one.rank - other.rank);
  const exact = spellings.find(({ name, rank }) => rank < 2 && name === written);
  if (exact !== undefined) return exact;
  const same = spellings.find(({ raw, rank }) => rank < 2 && raw === folded);
  if (same !== undefined) return same;
  const rank = spellings[0]?.rank ?? 0;
  const first = spellings.filter((spelling) => spelling.rank === rank);
  const isOne = rank < 2 || new Set(first.map(({ label }) => label)).size === 1;
  return isOne && first[0] !== undefined ? first[0] : { label: somebody };
}

const isStart = (text: string, at: number) => at === 0 || !isInWord(text, at) || !isInWord(text, at - 1);

const isEnd = (text: string, at: number) => !isInWord(text, at - 1) || !isInWord(text, at);

const isS = (text: string, at: number) => text.charAt(at) === 's' && !isInWord(text, at + 1);

/** Spellings that end at an index of a text. */
interface Ending {
  readonly spellings: readonly Spelling[];
  readonly end: number;
}

interface TreeNode {
  readonly children: Map<number, TreeNode>;
  /** The punctuation that may stand here between two words; null within a word. */
  breaks: string | null;
  /** The spellings that end here. */
  readonly spellings: Spelling[];
}

/** All spellings, by their letters. */
class NameTree {
  readonly #root = newNode();
  readonly #titles: Titles;

  constructor(people: readonly NamedPerson[], rules: NameRules, titles: Titles) {
    this.#titles = titles;
    for (const person of people)
      for (const spelling of spellingsOf(person, rules, titles)) this.#add(spelling);
  }

  /** The code units with which names begin. */
  firstUnits(): ReadonlySet<number> {
    const hasNumber = [...this.#root.children.keys()].some((unit) => unit >= 48 && unit <= 57);
    return new Set([...this.#root.children.keys(), ...(hasNumber ? [48] : [])]);
  }

  #add(spelling: Spelling): void {
    let node = this.#root;
    for (const [at, token] of spelling.tokens.entries()) {
      if (at > 0) node.breaks = (node.breaks ?? '') + (spelling.between[at - 1] ?? '');
      for (let unit = 0; unit < token.length; unit += 1) {
        const code = token.charCodeAt(unit);
        const next = node.children.get(code) ?? newNode();
        node.children.set(code, next);
        node = next;
      }
    }
    const isKnown = node.spellings.some(
      ({ label, rank, form, name }) =>
        label === spelling.label &&
        rank === spelling.rank &&
        form === spelling.form &&
        name === spelling.name,
    );
    if (!isKnown) node.spellings.push(spelling);
  }

  /** The spellings that end in the text from a position on, the shortest first. */
  walk(text: string, start: number): Ending[] {
    const endings: Ending[] = [];
    let node = this.#root;
    let wordStart = start;
    let isBorder = true;
    for (let at = start; ; ) {
      if (isBorder && text.charCodeAt(at) === 48 && !isDigit(text, at - 1)) at = afterZeros(text, at);
      const next = node.children.get(text.charCodeAt(at));
      if (next === undefined) {
        const after = node.breaks === null ? at : this.#afterGap(text, at, node.breaks, wordStart);
        if (after === at || !node.children.has(text.charCodeAt(afterZeros(text, after)))) return endings;
        [wordStart, at, isBorder] = [after, after, true];
        continue;
      }
      node = next;
      at += 1;
      isBorder = node.breaks !== null;
      if (node.spellings.length > 0) endings.push({ spellings: node.spellings, end: at });
    }
  }

  /** The index after the separators at a position. A full stop separates after a title, and in `ann.lee`. */
  #afterGap(text: string, from: number, allowed: string, wordStart: number): number {
    let at = from;
    for (; at < text.length && at - from < longestGap; at += 1) {
      if (isSeparator(text, at) || allowed.includes(text.charAt(at))) continue;
      if (text.charAt(at) === '#' && isDigit(text, at + 1)) continue;
      if (text.charAt(at) !== '.') break;
      if (!this.#titles.has(text.slice(wordStart, at)) && !isInWord(text, at + 1)) break;
    }
    return at;
  }
}

function isSeparator(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? asciiSeparator.has(code) : separator.test(text.charAt(at));
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** `Player 01` is `Player 1`. */
function afterZeros(text: string, from: number): number {
  let at = from;
  while (at - from < longestGap && text.charCodeAt(at) === 48 && isDigit(text, at + 1)) at += 1;
  return at;
}
