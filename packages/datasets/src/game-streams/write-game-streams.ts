import type { TaskSource, TextSink } from '@hansard/events';
import { readCast } from './cast.ts';
import { createGameStreams } from './create-game-streams.ts';
import type { GameMappingInput } from './game-mapping.ts';
import { type GameStream, gameStreams, type StreamLine } from './stream-lines.ts';

/** What the streams of one dispatch could not show. */
export interface StreamedRun {
  readonly dispatchId: string;
  /** Calls without a line, because the log lacks their input; by tool. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** The players that events of the game name, but that match no agent. */
  readonly unmatchedPlayers: readonly string[];
}

export interface WrittenStreams {
  /** The number of lines of each stream. */
  readonly lines: Readonly<Record<GameStream, number>>;
  readonly runs: readonly StreamedRun[];
}

/**
 * The streams of the dispatches of a game: a file `STREAM.jsonl` for each, with the lines of all dispatches. `open` creates a file.
 * @throws FORMAT_MAPPING_INVALID
 */
export async function writeGameStreams(
  { envelopes, readEvents }: TaskSource,
  open: (name: string) => TextSink,
  mapping: GameMappingInput,
): Promise<WrittenStreams> {
  const files = gameStreams.map((stream) => [stream, open(`${stream}.jsonl`)] as const);
  const sinks = new Map<GameStream, TextSink>(files);
  const lines = Object.fromEntries(gameStreams.map((stream) => [stream, 0])) as Record<GameStream, number>;
  const runs: StreamedRun[] = [];
  for (const { dispatchId } of envelopes) {
    const cast = await readCast(readEvents(dispatchId), mapping);
    const streams = createGameStreams(mapping, { runId: dispatchId, cast });
    for await (const event of readEvents(dispatchId)) await write(streams.add(event));
    await write(streams.finish());
    runs.push({ dispatchId, leftOut: streams.leftOut, unmatchedPlayers: streams.unmatchedPlayers });
  }
  return { lines, runs };

  async function write(written: readonly StreamLine[]): Promise<void> {
    for (const { stream, line } of written) {
      await sinks.get(stream)?.write(`${JSON.stringify(line)}\n`);
      lines[stream] += 1;
    }
  }
}
