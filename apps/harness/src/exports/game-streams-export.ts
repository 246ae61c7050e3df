import {
  createGameStreams,
  type GameMapping,
  type GameStream,
  gameStreams,
  readCast,
  type StreamLine,
} from '@hansard/datasets';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';
import { gameMappingOption, readGameMapping } from './read-game-mapping.ts';
import type { TaskExport, TextSink } from './task-export.ts';
import { unmatchedPlayersNote } from './unmatched-players-note.ts';

/** The streams of a game log: one file per stream, with the lines of all runs. */
export const gameStreamsExport: TaskExport = {
  id: 'streams',
  description: 'the streams of a game log, one file each; needs --mapping',
  scope: 'task',
  target: 'folder',
  options: [gameMappingOption],
  async write({ context, envelopes, readEvents }, target, options) {
    const mapping = readMapping(context, options.mapping);
    const files = new Map<GameStream, TextSink>(
      gameStreams.map((stream) => [stream, target.file(`${stream}.jsonl`)]),
    );
    const written = new Map<GameStream, number>(gameStreams.map((stream) => [stream, 0]));
    const notes: string[] = [];
    for (const { dispatchId } of envelopes) {
      const cast = await readCast(readEvents(dispatchId), mapping);
      const streams = createGameStreams(mapping, { runId: dispatchId, cast });
      for await (const event of readEvents(dispatchId)) await writeLines(streams.add(event));
      await writeLines(streams.finish());
      notes.push(...unmatchedPlayersNote(dispatchId, streams.unmatchedPlayers));
      for (const [tool, count] of Object.entries(streams.leftOut))
        notes.push(
          `Calls of ${tool} omitted from ${dispatchId}: ${count}. Their input does not have the fields that the mapping names.`,
        );
    }
    if (written.get('game_events') === 0)
      notes.push('game_events.jsonl is empty: no event is of a type that "gameEvents" of the mapping names.');
    return { summary: { lines: Object.fromEntries(written), runs: envelopes.length }, notes };

    async function writeLines(lines: readonly StreamLine[]): Promise<void> {
      for (const { stream, line } of lines) {
        await files.get(stream)?.write(`${JSON.stringify(line)}\n`);
        written.set(stream, (written.get(stream) ?? 0) + 1);
      }
    }
  },
};

function readMapping(context: CliContext, name: unknown): GameMapping {
  if (typeof name === 'string') return readGameMapping(context, name);
  throw new CliError(
    exitCode.usage,
    'The export of streams needs a mapping of the events and tools of the game.',
    'Name the mapping file: --mapping mapping.yaml. The README of @hansard/formats shows one.',
  );
}
