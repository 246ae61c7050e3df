import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { ClaudeStreamError } from './claude-stream-error.ts';

export interface FileLine {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its end; of a line that is too long only the start. */
  readonly text: string;
  /** The length of the whole line in bytes. */
  readonly bytes: number;
  readonly isTooLong: boolean;
  /** Whether the bytes are UTF-8; if not, the text has U+FFFD where they are not. */
  readonly isUtf8: boolean;
}

const newline = 0x0a;
const keptOfTooLong = 16 * 1024;

/** The longest line that is read: 100 MB. */
const longestLine = 100 * 1024 * 1024;

/**
 * Reads a file line by line, with never more than a line in memory. Only a line feed ends a line: U+2028 and a lone
 * carriage return may stand inside a JSON string. @throws FORMAT_UNREADABLE
 */
export async function* readLines(path: string, longest = longestLine): AsyncGenerator<FileLine> {
  let collector = new LineCollector(longest);
  let number = 0;
  for await (const chunk of chunksOf(path)) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      collector.add(chunk.subarray(start, end));
      number += 1;
      yield collector.take(number);
      collector = new LineCollector(longest);
      start = end + 1;
    }
    collector.add(chunk.subarray(start));
  }
  if (collector.bytes > 0) yield collector.take(number + 1);
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    throw new ClaudeStreamError('FORMAT_UNREADABLE', `Can't read the stream ${path}: ${reason}.`, {
      cause,
      details: { file: path },
    });
  }
}

class LineCollector {
  bytes = 0;
  readonly #longest: number;
  #pieces: Buffer[] = [];

  constructor(longest: number) {
    this.#longest = longest;
  }

  add(piece: Buffer): void {
    const wasTooLong = this.bytes > this.#longest;
    this.bytes += piece.length;
    if (!wasTooLong && piece.length > 0) this.#pieces.push(piece);
    if (!wasTooLong && this.bytes > this.#longest) {
      this.#pieces = [Buffer.concat(this.#pieces).subarray(0, keptOfTooLong)];
    }
  }

  take(number: number): FileLine {
    const isTooLong = this.bytes > this.#longest;
    const line = Buffer.concat(this.#pieces);
    return {
      number,
      text: line.toString('utf8'),
      bytes: this.bytes,
      isTooLong,
      isUtf8: isTooLong || isUtf8(line),
    };
  }
}
