import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import { LineFile } from '@hansard/formats/files';
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
  /** Adds an event, with the lines that it completes. They are in the files after `flush`. @throws FORMAT_FILE_DIFFERS */
  add(event: CapturedEvent): void;
  /** Writes the lines that wait. @throws FORMAT_FILE_DIFFERS */
  flush(): void;
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
  const names: readonly GameStream[] = isExtended ? gameStreams : specifiedStreams;
  const files = new Map(names.map((stream) => [stream, new LineFile(join(folder, `${stream}.jsonl`))]));
  const lines: Partial<Record<GameStream, number>> = Object.fromEntries(names.map((stream) => [stream, 0]));
  const close = () => {
    for (const file of files.values()) file.close();
  };
  return {
    lines,
    add: (event) => write(streams.add(event)),
    flush() {
      for (const file of files.values()) file.flush();
    },
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
