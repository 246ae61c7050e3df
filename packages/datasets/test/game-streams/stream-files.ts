import type { CapturedEvent } from '@hansard/events';
import { type GameLogFile, type ReadGame, readGameLog } from '@hansard/formats';
import {
  Cast,
  createGameStreams,
  type GameMappingInput,
  type GameStream,
  gameLogMapping,
  gameStreams,
  specifiedStreams,
  streamText,
} from '../../src/index.ts';

/** The text of each file. */
export type StreamFiles = Readonly<Partial<Record<GameStream, string>>>;

/** The files of some logs, one after the other in each, as an export writes them. */
export function filesOf(
  logs: readonly (readonly CapturedEvent[])[],
  mapping: GameMappingInput = gameLogMapping,
  isExtended = false,
): StreamFiles {
  const files: Partial<Record<GameStream, string>> = {};
  for (const stream of isExtended ? gameStreams : specifiedStreams) files[stream] = '';
  for (const [at, events] of logs.entries()) {
    const cast = new Cast(mapping);
    for (const event of events) cast.observe(event);
    const streams = createGameStreams(mapping, { runId: `R${at}`, cast });
    const lines = [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
    for (const line of lines) {
      const text = streamText(line, isExtended);
      if (text !== null) files[line.stream] = (files[line.stream] ?? '') + text;
    }
  }
  return files;
}

export function readFiles(files: StreamFiles): ReadGame[] {
  return readGameLog(sourcesOf(files));
}

export function sourcesOf(files: StreamFiles): GameLogFile[] {
  return Object.entries(files).map(([stream, source]) => ({ file: `${stream}.jsonl`, source }));
}
