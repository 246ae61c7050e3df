import { formatErrors } from '@hansard/events';
import {
  type GameLogFile,
  isOfStream,
  type LineOf,
  type LogLine,
  linesInOrder,
  type ReadGame,
  type StreamLogLine,
} from './game-lines.ts';
import { readGame } from './game-writer.ts';

/**
 * Reads the files of a game log (`game_events`, `chat`, `agent_actions`, `agent_reasoning`, `inference_trace`) as games, in the
 * order of time. What several files say of one event is one event. Each GAME_START begins a game, and lines with a `run_id` are
 * in the games of their run.
 * @throws FORMAT_NO_RECORDS
 */
export function readGameLog(files: readonly GameLogFile[]): ReadGame[] {
  const lines = linesInOrder(files);
  refuseOthers(files, lines);
  const runs = Map.groupBy(lines, ({ run }) => run);
  // Lines without a run, such as damaged ones at the start of a file, belong to the first run.
  const [first, ...others] = [...runs.keys()].filter((run) => run !== null);
  if (first === undefined) return gamesIn(lines);
  const ofFirst = lines.filter(({ run }) => run === null || run === first);
  return [ofFirst, ...others.map((run) => runs.get(run) ?? [])].flatMap(gamesIn);
}

/** The games of one run. Lines before the first start belong to the first game, unless they are game events or chat. */
function gamesIn(lines: readonly LogLine[]): ReadGame[] {
  const games: { readonly first: StreamLogLine; readonly lines: LogLine[] }[] = [];
  const above: LogLine[] = [];
  for (const line of lines) {
    if (isUnfinished(line)) continue;
    const isFirst = games.length === 0 && (line.kind === 'game' || line.kind === 'chat');
    if (isFirst || isStart(line)) games.push({ first: line, lines: above.splice(0) });
    (games.at(-1)?.lines ?? above).push(line);
  }
  const first = above.find(isOfStream);
  if (first !== undefined) games.push({ first, lines: above });
  // A truncated line does not belong to a game until it is complete.
  const unfinished = lines.filter(isUnfinished);
  return games.map((game, at) =>
    readGame({ ...game, unfinished: at === games.length - 1 ? unfinished : [] }),
  );
}

function isStart(line: LogLine): line is LineOf<'game'> {
  return line.kind === 'game' && line.eventType === 'GAME_START';
}

function isUnfinished(line: LogLine): line is LineOf<'damaged'> {
  return line.kind === 'damaged' && line.code === 'unfinished';
}

function refuseOthers(files: readonly GameLogFile[], lines: readonly LogLine[]): void {
  if (lines.some(isOfStream)) return;
  const name = files.map(({ file = 'The log' }) => file).join(', ');
  throw formatErrors.error(
    'FORMAT_NO_RECORDS',
    `${name} does not hold any line of a game log: no line has the keys of one of its five streams.`,
    { details: { file: name, lines: lines.length } },
  );
}
