import { join } from 'node:path';
import { addRedactions, type CapturedEvent, type TaskSource, type TextSink } from '@hansard/events';
import { LineFile } from '@hansard/formats/files';
import { Cast, readCast } from './cast.ts';
import { createGameStreams } from './create-game-streams.ts';
import { type GameMappingInput, mappingFor } from './game-mapping.ts';
import {
  type GameStream,
  gameStreams,
  type StreamLine,
  specifiedStreams,
  streamText,
} from './stream-lines.ts';

/** What the streams of one dispatch could not show. */
export interface StreamedRun {
  readonly dispatchId: string;
  /** Calls without a line, because the log lacks their input; by tool. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** The events that no written line names, by type. */
  readonly omitted: Readonly<Record<string, number>>;
  /** The players that events of the game name, but that match no agent. */
  readonly unmatchedPlayers: readonly string[];
  /** How many lines have the timestamp null, because the time of their event is not recorded. */
  readonly untimedLines: number;
}

export interface StreamsOptions {
  /** The meaning of events and tools. Imported game logs need none. */
  readonly mapping?: GameMappingInput;
  /** Whether each line has its run and its event, and whispers have a file. Absent: as in the specification. */
  readonly isExtended?: boolean;
}

/**
 * The streams of the dispatches of a game: a file `STREAM.jsonl` for each, with the lines of all dispatches. `open` creates a file.
 * @throws FORMAT_MAPPING_INVALID, FORMAT_MAPPING_MISSING
 */
export async function writeGameStreams(
  { envelopes, readEvents }: TaskSource,
  open: (name: string) => TextSink,
  { mapping: given, isExtended = false }: StreamsOptions,
): Promise<{
  /** The number of lines of each file. */
  readonly lines: Readonly<Partial<Record<GameStream, number>>>;
  readonly runs: readonly StreamedRun[];
}> {
  const mappings = envelopes.map((envelope) => mappingFor(envelope, given));
  const streams = isExtended ? gameStreams : specifiedStreams;
  const sinks = new Map(streams.map((stream) => [stream as GameStream, open(`${stream}.jsonl`)]));
  const lines: Partial<Record<GameStream, number>> = Object.fromEntries(streams.map((stream) => [stream, 0]));
  const runs: StreamedRun[] = [];
  let untimed = 0;
  for (const [at, { dispatchId }] of envelopes.entries()) {
    untimed = 0;
    const mapping = mappings[at] as GameMappingInput;
    const cast = await readCast(readEvents(dispatchId), mapping);
    const streams = createGameStreams(mapping, { runId: dispatchId, cast });
    const named = new NamedEvents();
    for await (const event of readEvents(dispatchId)) {
      named.read(event);
      await write(streams.add(event), named);
    }
    await write(streams.finish(), named);
    const { leftOut, unmatchedPlayers } = streams;
    runs.push({ dispatchId, leftOut, omitted: named.omitted(), unmatchedPlayers, untimedLines: untimed });
  }
  return { lines, runs };

  async function write(written: readonly StreamLine[], named: NamedEvents): Promise<void> {
    for (const line of written) {
      const text = streamText(line, isExtended);
      if (text === null) continue;
      const sink = sinks.get(line.stream);
      if (sink === undefined) continue;
      await sink.write(text);
      named.write(line);
      lines[line.stream] = (lines[line.stream] ?? 0) + 1;
      if (line.line.timestamp === null) untimed += 1;
    }
  }
}

/** Finds the events that no line names. */
class NamedEvents {
  readonly #types = new Map<string, string>();
  readonly #named = new Set<string>();

  read({ id, type }: CapturedEvent): void {
    this.#types.set(id, type);
  }

  write({ line }: StreamLine): void {
    this.#named.add(line.event_id);
  }

  omitted(): Record<string, number> {
    const omitted: Record<string, number> = {};
    for (const [id, type] of this.#types) if (!this.#named.has(id)) addRedactions(omitted, { [type]: 1 });
    return omitted;
  }
}

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
  /** The events so far that no written line names, by type. */
  omitted(): Readonly<Record<string, number>>;
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
  const named = new NamedEvents();
  const files = new Map(names.map((stream) => [stream, new LineFile(join(folder, `${stream}.jsonl`))]));
  const lines: Partial<Record<GameStream, number>> = Object.fromEntries(names.map((stream) => [stream, 0]));
  const close = () => {
    for (const file of files.values()) file.close();
  };
  return {
    lines,
    omitted: () => named.omitted(),
    add(event) {
      named.read(event);
      write(streams.add(event));
    },
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
      const file = files.get(line.stream);
      if (file === undefined) continue;
      file.write(text);
      named.write(line);
      lines[line.stream] = (lines[line.stream] ?? 0) + 1;
    }
  }
}
