import { isInWord } from './fold.ts';
import type { NamedPerson, NameRules } from './named-person.ts';
import { type Spelling, spellingsOf } from './spellings.ts';
import type { Titles } from './titles.ts';

/** Spellings that end at an index of a text. */
export interface Ending {
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

const newNode = (): TreeNode => ({ children: new Map(), breaks: null, spellings: [] });

/** More separators than this end a name. */
const longestGap = 8;
const separator = /[\s_'’‘ʼ`´′\p{Pd}]/u;
const asciiSeparator = new Set([..."\t\n\r _'`-"].map((character) => character.charCodeAt(0)));

/** All spellings, by their letters. */
export class NameTree {
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
