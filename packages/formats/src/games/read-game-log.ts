import {
  type CapturedEvent,
  definedOnly,
  eventProblem,
  formatErrors,
  type JsonObject,
  type JsonValue,
  messageOf,
  toTimestamp,
} from '@hansard/events';
import type { FormatDiagnostic, FormatDiagnosticCode } from '../lines/format-diagnostic.ts';
import { originOf } from '../lines/log-origin.ts';
import { createNamePool } from '../lines/name-pool.ts';
import { describeDamage, fileName } from '../lines/parse-lines.ts';
import {
  type GameLogFile,
  type LogLine,
  linesInOrder,
  type ReadGame,
  type ReadGameOptions,
} from './game-lines.ts';

/** Maps the lines of one game to events. */
interface GameWriter {
  add(line: LogLine): void;
  report(place: Pick<LogLine, 'file' | 'line'>, code: FormatDiagnosticCode, message: string): void;
  finish(): ReadGame;
}

/** The first line of a game, which identifies it. */
type FirstLine = LineOf<'game' | 'chat'>;

type LineOf<K extends LogLine['kind']> = Extract<LogLine, { kind: K }>;

function createGameWriter(firstLine: FirstLine): GameWriter {
  const events: CapturedEvent[] = [];
  const diagnostics: FormatDiagnostic[] = [];
  const eventIds = createNamePool(new Set());
  const agentIds = createNamePool(new Set());
  const players = new Map<string, string>();
  const living = new Set<string>();
  let isComplete = false;
  const counts = { event: 0, chat: 0, record: 0, notice: 0 };
  let records = 0;

  return {
    add(line) {
      if (line.kind !== 'damaged') records += 1;
      for (const { code, message } of line.diagnostics) report(line, code, message);
      const before = events.length;
      const problem =
        addContent(line) ??
        events
          .slice(before)
          .map(eventProblem)
          .find((one) => one !== null);
      if (problem === undefined || line.kind === 'damaged') return;
      report(line, 'not_mapped', `The line could not be mapped, and is kept as a notice: ${problem}`);
      // The agents that the line names for the first time stay: later lines refer to them.
      const made = events.splice(before);
      events.push(...made.filter((event) => event.type === 'agent:created' && eventProblem(event) === null));
      addNotice(line, problem, line.record);
    },

    report,

    finish() {
      if (!isComplete) report(firstLine, 'game_without_end', 'The game that begins here has no GAME_END.');
      const origin = originOf(firstLine.record, firstLine.file);
      return { events, report: { records, diagnostics }, isComplete, origin };
    },
  };

  function report(
    { file, line }: Pick<LogLine, 'file' | 'line'>,
    code: FormatDiagnosticCode,
    message: string,
  ): void {
    diagnostics.push({ code, line, message, ...definedOnly({ file }) });
  }

  /** Returns why the mapping of a line failed. */
  function addContent(line: LogLine): string | undefined {
    try {
      if (line.kind === 'game') addGameEvent(line);
      else if (line.kind === 'chat') addChat(line);
      else if (line.kind === 'damaged') addNotice(line, line.problem, line.text);
      else write(line, { id: nextId('record'), type: 'game_log:record', data: line.record });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  function addGameEvent(line: LineOf<'game'>): void {
    const { eventType, payload, record } = line;
    const action = actionOf(eventType);
    const isKept = action.toUpperCase() === eventType;
    const id = nextId('event');
    const data = { payload, ...restOf(record, isKept ? ['event_type', 'payload'] : ['payload']) };
    write(line, { id, type: `game:${action}`, data });
    if (eventType === 'GAME_END') isComplete = true;
    for (const name of namesIn(payload.players)) join(line, name);
    const alive = namesIn(payload.living_players);
    for (const name of alive) join(line, name);
    if (alive.length > 0) {
      living.clear();
      for (const name of alive) living.add(name);
    }
    if (eventType === 'DEATH' && typeof payload.player === 'string') living.delete(payload.player);
  }

  function addChat(line: LineOf<'chat'>): void {
    const { speaker, message: text, to, record } = line;
    const agentId = takePart(line, speaker, 'speaks');
    const id = nextId('chat');
    const data = { text, ...restOf(record, ['speaker', 'message']) };
    if (to?.length === 0)
      report(
        line,
        'recipient_missing',
        `The log does not name the receiver of the whisper of ${speaker}: no agent receives it.`,
      );
    // A receiver takes part from before the message.
    for (const name of to ?? []) takePart(line, name, 'is spoken to');
    if (to === null) write(line, { id, type: 'agent:text', agentId, messageId: id, data });
    else write(line, { id, type: 'agent:piece_of_text', agentId, data });
    const others = [...new Set(to ?? living)].filter((name) => name !== speaker);
    for (const [index, name] of others.entries())
      write(line, {
        id: eventIds.take(`${id}.${index + 1}`),
        type: 'user:message',
        agentId: players.get(name) ?? name,
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
  }

  function takePart(line: LogLine, name: string, how: string): string {
    if (!players.has(name)) {
      report(line, 'agent_not_created', `${name} ${how}, but is not a player of this game so far.`);
      join(line, name);
    }
    return players.get(name) ?? name;
  }

  function addNotice(line: LogLine, problem: string, raw: JsonValue): void {
    const { file } = line;
    const data = { problem, ...(file === undefined ? {} : { file: fileName(file) }), line: line.line, raw };
    write(line, { id: nextId('notice'), type: 'system:notice', data });
  }

  /** Numbers within the game, not the file, so that a game stays the same when its log is split or loses older games. */
  function nextId(kind: keyof typeof counts): string {
    counts[kind] += 1;
    return eventIds.take(`${kind}-${counts[kind]}`);
  }

  function join(line: LogLine, name: string): void {
    if (players.has(name)) return;
    const agentId = agentIds.take(name === '' ? 'player' : name);
    players.set(name, agentId);
    living.add(name);
    write(line, {
      id: eventIds.take(`player-${agentId}`),
      type: 'agent:created',
      agentId,
      data: { name },
    });
  }

  function write({ time }: LogLine, { id, type, ...fields }: Omit<CapturedEvent, 'timestamp'>): void {
    events.push({ id, type, timestamp: toTimestamp(time), ...fields });
  }
}

/** The turn, and the fields of the line that are not in its event. */
function restOf({ turn, ...record }: JsonObject, said: readonly string[]): JsonObject {
  const rest = Object.fromEntries(Object.entries(record).filter(([key]) => !said.includes(key)));
  const kept = typeof turn === 'string' || turn === undefined ? rest : { turn, ...rest };
  return {
    ...(typeof turn === 'string' ? { turn } : {}),
    ...(Object.keys(kept).length === 0 ? {} : { record: kept }),
  };
}

function actionOf(eventType: string): string {
  const action = eventType.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return /^[a-z]/.test(action) ? action : `event_${action}`;
}

function namesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}

/**
 * Reads the files of a game log (`game_events`, `chat`) as games, in the order of time. Each GAME_START begins a game.
 * @throws FORMAT_NO_RECORDS
 */
export function readGameLog(
  files: readonly GameLogFile[],
  { now = Date.now }: ReadGameOptions = {},
): ReadGame[] {
  const lines = linesInOrder(files, now);
  refuseOthers(files, lines);
  const games: GameWriter[] = [];
  /** Lines before the first start belong to the first game. */
  const above: LogLine[] = [];
  for (const line of lines) {
    if (isUnfinished(line)) continue;
    const isStart = line.kind === 'game' && line.eventType === 'GAME_START';
    if (isStart || (games.length === 0 && isOfGame(line))) {
      const begun = createGameWriter(line);
      games.push(begun);
      if (!isStart)
        begun.report(
          line,
          'game_without_start',
          'The log begins in the middle of a game: there is no GAME_START before.',
        );
      for (const earlier of above.splice(0)) begun.add(earlier);
    }
    const game = games.at(-1);
    if (game === undefined) above.push(line);
    else game.add(line);
  }
  for (const line of lines) {
    if (isUnfinished(line)) games.at(-1)?.report(line, line.code, describeDamage(line));
  }
  return games.map((game) => game.finish());
}

function isOfGame(line: LogLine): line is FirstLine {
  return line.kind === 'game' || line.kind === 'chat';
}

/** A truncated line does not belong to a game until it is complete. */
function isUnfinished(line: LogLine): line is Extract<LogLine, { kind: 'damaged' }> {
  return line.kind === 'damaged' && line.code === 'unfinished';
}

function refuseOthers(files: readonly GameLogFile[], lines: readonly LogLine[]): void {
  if (lines.some(isOfGame)) return;
  const name = files.map(({ file = 'The log' }) => file).join(', ');
  throw formatErrors.error(
    'FORMAT_NO_RECORDS',
    `${name} does not hold any line of a game log: no event_type with a payload, no speaker with a message.`,
    { details: { file: name, lines: lines.length } },
  );
}
