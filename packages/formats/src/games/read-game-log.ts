import { BalanceSheet, definedOnly, formatErrors } from '@hansard/events';
import { bytesOf } from '../lines/parse-lines.ts';
import { isWerewolfMatch, readWerewolfMatch } from '../werewolf-match/read-werewolf-match.ts';
import {
  type GameLogFile,
  isGameLog,
  isOfStream,
  type LineOf,
  type LogLine,
  linesInOrder,
  type ReadGame,
  type StreamLogLine,
} from './game-lines.ts';
import { type GameLines, readGame } from './game-writer.ts';

export const gameFormats: Readonly<
  Record<
    GameFormatId,
    {
      readonly id: GameFormatId;
      readonly read: (files: readonly GameLogFile[]) => ReadGame[];
    }
  >
> = {
  'game-log': { id: 'game-log', read: readGameLog },
  'werewolf-match': {
    id: 'werewolf-match',
    read: (files) => files.map(({ source, file }) => readWerewolfMatch(source, definedOnly({ file }))),
  },
};

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
  const ofRuns =
    first === undefined
      ? [lines]
      : [
          lines.filter(({ run }) => run === null || run === first),
          ...others.map((run) => runs.get(run) ?? []),
        ];
  const games = ofRuns.flatMap(gamesIn);
  const sheets = sheetsOf(files, games);
  return games.map((game, at) => readGame(game, sheets[at] ?? new BalanceSheet()));
}

/**
 * What each game has, before its lines are mapped. A file counts in the game that has its first line. A file without a line, and blank lines,
 * count in the last game.
 */
function sheetsOf(files: readonly GameLogFile[], games: readonly GameLines[]): BalanceSheet[] {
  const sheets = games.map(() => new BalanceSheet());
  const last = sheets.at(-1);
  const counted = new Set<number>();
  let rest = files.reduce((sum, { source }) => sum + bytesOf(source), 0);
  for (const [at, { lines, unfinished }] of games.entries()) {
    for (const { source, bytes } of [...lines, ...unfinished]) {
      sheets[at]?.take('records');
      sheets[at]?.take('bytes', bytes);
      rest -= bytes;
      if (counted.has(source)) continue;
      counted.add(source);
      sheets[at]?.take('files');
      sheets[at]?.record('files');
    }
  }
  last?.take('bytes', rest);
  last?.leaveOut('bytes', 'blank', rest);
  last?.take('files', files.length - counted.size);
  last?.leaveOut('files', 'no_records', files.length - counted.size);
  return sheets;
}

/** The games of one run. Lines before the first start belong to the first game, unless they are game events or chat. */
function gamesIn(lines: readonly LogLine[]): GameLines[] {
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
  return games.map((game, at) => ({ ...game, unfinished: at === games.length - 1 ? unfinished : [] }));
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

export type GameFormatId = 'game-log' | 'werewolf-match';

/** The format of a recorded game, detected from the start of its file; null if it is not a game. A match needs its whole file. */
export function detectGameFormat(start: string): GameFormatId | null {
  if (isGameLog(start)) return 'game-log';
  return isWerewolfMatch(start) ? 'werewolf-match' : null;
}
