import type { JsonValue } from '@hansard/events';

/** The maximum number of characters of a record that is broken over lines. */
const longest = 100 * 1024 * 1024;

interface Joined {
  readonly value: JsonValue;
  /** The text after the value on its last line. */
  readonly rest: string;
  readonly lines: number;
}

/**
 * A JSON object or array that continues over lines: pretty-printed JSON, or a string with line feeds that should have
 * been escaped.
 */
export class OpenText {
  readonly firstLine: number;
  readonly lines: string[] = [];
  length = 0;
  /** The text so far, line feeds within strings escaped. */
  readonly #pieces: string[] = [];
  #depth = 0;
  #isInString = false;

  /** Null if the text is not the start of an object or array. */
  static begin(text: string, line: number): OpenText | null {
    const start = text.trimStart()[0];
    if (start !== '{' && start !== '[') return null;
    const open = new OpenText(line);
    return open.add(text) === 'open' ? open : null;
  }

  private constructor(firstLine: number) {
    this.firstLine = firstLine;
  }

  add(text: string): Joined | 'open' | 'hopeless' {
    this.lines.push(text);
    this.length += text.length + 1;
    const end = this.#scan(text);
    if (end === undefined) {
      this.#pieces.push(text.replace(/\r$/, ''), this.#isInString ? '\\n' : '\n');
      return this.length > longest ? 'hopeless' : 'open';
    }
    this.#pieces.push(text.slice(0, end));
    try {
      const value = JSON.parse(this.#pieces.join('').replace(/^\uFEFF/, '')) as JsonValue;
      return { value, rest: text.slice(end), lines: this.lines.length };
    } catch {
      return 'hopeless';
    }
  }

  /** The position at which the outermost bracket closes. */
  #scan(text: string): number | undefined {
    const token = /["\\{}[\]]/g;
    for (let found = token.exec(text); found !== null; found = token.exec(text)) {
      const [mark] = found;
      if (mark === '\\') token.lastIndex += this.#isInString ? 1 : 0;
      else if (mark === '"') this.#isInString = !this.#isInString;
      else if (!this.#isInString) {
        this.#depth += mark === '{' || mark === '[' ? 1 : -1;
        if (this.#depth <= 0) return token.lastIndex;
      }
    }
    return undefined;
  }
}
