import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type CapturedEvent, formatErrors, type HansardError } from '@hansard/events';
import { Cast } from './cast.ts';
import { createGameStreams } from './create-game-streams.ts';
import type { GameMappingInput } from './game-mapping.ts';
import {
  type GameStream,
  gameStreams,
  type StreamLine,
  specifiedStreams,
  streamText,
} from './stream-lines.ts';

/** The files of the streams of one dispatch, written while it is recorded. */
export interface LiveStreams extends Disposable {
  /** Writes the lines that an event adds. They are in the files when this returns. @throws FORMAT_FILE_DIFFERS */
  add(event: CapturedEvent): void;
  /** Writes the remaining lines, after the last event. @throws FORMAT_FILE_DIFFERS */
  finish(): void;
  /** The number of lines of each file. */
  readonly lines: Readonly<Partial<Record<GameStream, number>>>;
  /** Closes the files. A second call does nothing. */
  close(): void;
}

export interface LiveStreamsOptions {
  readonly runId: string;
  /** Whether each line has its run and its event, and whispers have a file. Absent: as in the specification. */
  readonly isExtended?: boolean;
}

/**
 * Opens the files of the streams of a dispatch in a folder, `STREAM.jsonl` each, to write them from its first event on. Files of an
 * earlier process, such as one that was killed, are continued: a torn last line is removed, and lines that are there are compared
 * instead of written. So the caller gives every event again. Only the owner can read the files.
 *
 * The streams know only the agents of the events so far. `writeGameStreams`, which reads the whole log first, can count an utterance as a whisper
 * that reached all agents of its time.
 * @throws FORMAT_MAPPING_INVALID
 */
export function openLiveStreams(
  folder: string,
  mapping: GameMappingInput,
  { runId, isExtended = false }: LiveStreamsOptions,
): LiveStreams {
  const streams = createGameStreams(mapping, { runId, cast: new Cast(mapping) });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names: readonly GameStream[] = isExtended ? gameStreams : specifiedStreams;
  const files = new Map(names.map((stream) => [stream, new LineFile(join(folder, `${stream}.jsonl`))]));
  const lines: Partial<Record<GameStream, number>> = Object.fromEntries(names.map((stream) => [stream, 0]));
  const close = () => {
    for (const file of files.values()) file.close();
  };
  return {
    lines,
    add: (event) => write(streams.add(event)),
    finish() {
      write(streams.finish());
      for (const file of files.values()) file.assertEnd();
    },
    close,
    [Symbol.dispose]: close,
  };

  function write(written: readonly StreamLine[]): void {
    for (const line of written) {
      const text = streamText(line, isExtended);
      if (text === null) continue;
      files.get(line.stream)?.write(text);
      lines[line.stream] = (lines[line.stream] ?? 0) + 1;
    }
  }
}

/**
 * A file of lines that is written again from its beginning. Invariant: its first `#at` bytes are the lines that were given, and up to `#size`
 * there are whole lines of an earlier process that are still to be compared.
 */
class LineFile {
  readonly #path: string;
  readonly #file: number;
  #at = 0;
  #size: number;
  #isOpen = true;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#size = this.#withoutTornLine(fstatSync(this.#file).size);
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#at < this.#size) {
      const there = Buffer.alloc(bytes.length);
      readSync(this.#file, there, 0, bytes.length, this.#at);
      if (!there.equals(bytes)) throw this.#differs();
    } else {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#file, bytes, done, bytes.length - done, this.#at + done);
      this.#size += bytes.length;
    }
    this.#at += bytes.length;
  }

  /** After the last line: the file must not have more. */
  assertEnd(): void {
    if (this.#at < this.#size) throw this.#differs();
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  /** Removes what follows the last line end, which a killed process did not complete. Returns the size. */
  #withoutTornLine(size: number): number {
    const piece = Buffer.alloc(64 * 1024);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - piece.length);
      readSync(this.#file, piece, 0, end - start, start);
      const found = piece.subarray(0, end - start).lastIndexOf(0x0a);
      if (found >= 0) {
        if (start + found + 1 < size) ftruncateSync(this.#file, start + found + 1);
        return start + found + 1;
      }
      end = start;
    }
    if (size > 0) ftruncateSync(this.#file, 0);
    return 0;
  }

  #differs(): HansardError {
    return formatErrors.error(
      'FORMAT_FILE_DIFFERS',
      `${this.#path} has other lines than the log from byte ${this.#at} on. Nothing more is written to it.`,
      { details: { file: this.#path, byte: this.#at } },
    );
  }
}
