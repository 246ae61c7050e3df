import { isUtf8 } from 'node:buffer';

/**
 * A part of a document that is one JSON object: a member, an item of one of its lists, or what could not be read. `bytes` are those since the part
 * before, so that the parts of a document have all of its bytes. `value` is the text of the value, and stays what it is until the next part is asked for.
 */
export type DocumentPart = { readonly value: Buffer; readonly bytes: number; readonly isUtf8: boolean } & (
  | { readonly kind: 'member'; readonly key: string }
  | { readonly kind: 'item'; readonly of: string }
  /** `unfinished`: the document ends within a value, so that more of it may follow. */
  | { readonly kind: 'damage'; readonly code: 'unfinished' | 'not_json' }
  | { readonly kind: 'end' }
);

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c];
const [listStart, listEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d];
const nothing = -1;
const noBytes = Buffer.alloc(0);

/** Splits a document while it is read, so that only one part has to fit in memory. The items of the named lists are parts. Values are not checked. */
export function* splitDocument(
  chunks: Iterable<Uint8Array>,
  lists: readonly string[],
): Generator<DocumentPart> {
  const scanner = new Scanner(chunks);
  scanner.skipByteOrderMark();
  if (scanner.next() !== objectStart) {
    yield scanner.damage(scanner.next() === nothing ? undefined : 'not_json');
    return;
  }
  scanner.pass();
  for (let found = scanner.next(); found !== objectEnd; found = scanner.next()) {
    const name = found === quote ? scanner.value() : null;
    const key = name === null ? undefined : parseKey(name.toString());
    if (key === undefined || scanner.next() !== colon) {
      yield scanner.damage();
      return;
    }
    scanner.pass();
    const list = lists.find((one) => one === key);
    if (list === undefined || scanner.next() !== listStart) {
      const value = scanner.value();
      yield value === null ? scanner.damage() : { kind: 'member', key, ...scanner.part(value) };
      if (value === null) return;
    } else {
      scanner.pass();
      for (let item = scanner.next(); item !== listEnd; item = scanner.next()) {
        const value = scanner.value();
        yield value === null ? scanner.damage() : { kind: 'item', of: list, ...scanner.part(value) };
        if (value === null) return;
        if (scanner.next() === comma) scanner.pass();
      }
      scanner.pass();
    }
    if (scanner.next() === comma) scanner.pass();
  }
  scanner.pass();
  yield scanner.next() === nothing ? { kind: 'end', ...scanner.part(noBytes) } : scanner.damage('not_json');
}

function parseKey(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

const longestDamage = 64 * 1024;

/** A place in a text of bytes, of which only the part that is being read is in memory. */
class Scanner {
  readonly #chunks: Iterator<Uint8Array>;
  #bytes = Buffer.alloc(0);
  #at = 0;
  /** The bytes since the last part that are no longer in memory. */
  #passed = 0;
  /** Where in `#bytes` the next part begins. */
  #from = 0;

  constructor(chunks: Iterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.iterator]();
  }

  skipByteOrderMark(): void {
    this.next();
    if (this.#bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) this.#at = 3;
  }

  /** The next byte that is not white space, which becomes the place. */
  next(): number {
    for (;;) {
      for (; this.#at < this.#bytes.length; this.#at += 1) {
        const byte = this.#bytes[this.#at] as number;
        if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      }
      if (!this.#more(this.#at)) return nothing;
    }
  }

  pass(): void {
    this.#at += 1;
  }

  /** The text of the value at the current place, which moves behind the value. Null if the document ends first, or has no value there. */
  value(): Buffer | null {
    const first = this.next();
    if (isOpening(first)) return this.#closed();
    let end = this.#at;
    for (;;) {
      while (end < this.#bytes.length && isOfWord(this.#bytes[end] as number)) end += 1;
      if (end < this.#bytes.length) break;
      const before = this.#at;
      if (!this.#more(before)) return null;
      end -= before - this.#at;
    }
    return end === this.#at ? null : this.#taken(end);
  }

  /** A text, a list or an object. */
  #closed(): Buffer | null {
    let depth = 0;
    let isText = false;
    for (let at = this.#at; ; ) {
      const bytes = this.#bytes;
      const { length } = bytes;
      for (; at < length; at += 1) {
        const byte = bytes[at] as number;
        if (isText) {
          if (byte === backslash) at += 1;
          else if (byte === quote) {
            isText = false;
            if (depth === 0) return this.#taken(at + 1);
          }
        } else if (byte === quote) isText = true;
        else if (byte === objectStart || byte === listStart) depth += 1;
        else if (byte === objectEnd || byte === listEnd) {
          depth -= 1;
          if (depth === 0) return this.#taken(at + 1);
        }
      }
      const before = this.#at;
      if (!this.#more(before)) return null;
      at -= before - this.#at;
    }
  }

  #taken(end: number): Buffer {
    const value = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return value;
  }

  /** The part that ends at the place. */
  part(value: Buffer): Pick<DocumentPart, 'value' | 'bytes' | 'isUtf8'> {
    const bytes = this.#passed + this.#at - this.#from;
    const own = this.#bytes.subarray(this.#from, this.#at);
    this.#passed = 0;
    this.#from = this.#at;
    return { value, bytes, isUtf8: isUtf8(own) };
  }

  /** Everything from the place on, with the start of its text. `code` absent: the rest of a value may follow. */
  damage(code?: 'not_json'): DocumentPart {
    const first = this.next();
    const isOpen = first === nothing || isOpening(first) || isOfWord(first);
    const value = Buffer.from(this.#bytes.subarray(this.#at, this.#at + longestDamage));
    for (this.#at = this.#bytes.length; this.#more(this.#at); ) this.#at = this.#bytes.length;
    return { kind: 'damage', code: code ?? (isOpen ? 'unfinished' : 'not_json'), ...this.part(value) };
  }

  /** Reads the next chunk, and drops the bytes before `keep` unless they are few. False at the end of the document. */
  #more(keep: number): boolean {
    const { done, value } = this.#chunks.next();
    if (done === true) return false;
    const kept = Math.min(keep, this.#at);
    this.#passed += Math.max(0, kept - this.#from);
    this.#from = Math.max(0, this.#from - kept);
    this.#bytes =
      kept === this.#bytes.length ? Buffer.from(value) : Buffer.concat([this.#bytes.subarray(kept), value]);
    this.#at -= kept;
    return true;
  }
}

function isOpening(byte: number): boolean {
  return byte === quote || byte === listStart || byte === objectStart;
}

function isOfWord(byte: number): boolean {
  return byte > 0x20 && !isOpening(byte) && ![comma, colon, listEnd, objectEnd].includes(byte);
}
