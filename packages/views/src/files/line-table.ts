/** The lines of a content, each as the number that a {@link LineTable} gave its text. */
export type Lines = Uint32Array;

/** A line with fewer letters and digits, such as `}` or `return;`, is written again too easily to prove anything. */
const leastOfOwn = 10;

/** Gives each text of a line a number, so that contents are compared quickly and kept in little memory. */
export class LineTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #ofOwn: boolean[] = [];

  /** The lines of a content. A byte order mark, the kind of line ends and the end of the last line are not part of them. */
  linesOf(content: string): Lines {
    const texts = content.replace(/^\ufeff/, '').split(content.includes('\r') ? /\r?\n/ : '\n');
    if (texts.at(-1) === '') texts.pop();
    return Uint32Array.from(texts, (text) => this.numberOf(text));
  }

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#texts.push(text) - 1;
    this.#ofOwn.push((text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= leastOfOwn);
    this.#numbers.set(text, number);
    return number;
  }

  textOf(number: number): string {
    return this.#texts[number] ?? '';
  }

  /** Whether the text of a line says enough to be recognised. */
  isOfOwn(number: number): boolean {
    return this.#ofOwn[number] === true;
  }
}

export function isSameContent(one: Lines, other: Lines): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}
