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

/** The first line of a game, which identifies it. */
type FirstLine = LineOf<'game' | 'chat'>;

type LineOf<K extends LogLine['kind']> = Extract<LogLine, { kind: K }>;

type LineCount = 'event' | 'chat' | 'record' | 'notice';

/** Maps the lines of one game to events. */
class GameWriter {
  readonly #firstLine: FirstLine;
  readonly #events: CapturedEvent[] = [];
  readonly #diagnostics: FormatDiagnostic[] = [];
  readonly #eventIds = createNamePool(new Set());
  readonly #agentIds = createNamePool(new Set());
  readonly #players = new Map<string, string>();
  readonly #living = new Set<string>();
  readonly #counts: Record<LineCount, number> = { event: 0, chat: 0, record: 0, notice: 0 };
  #isComplete = false;
  #records = 0;

  constructor(firstLine: FirstLine) {
    this.#firstLine = firstLine;
  }

  add(line: LogLine): void {
    if (line.kind !== 'damaged') this.#records += 1;
    for (const { code, message } of line.diagnostics) this.report(line, code, message);
    const before = this.#events.length;
    const problem =
      this.#addContent(line) ??
      this.#events
        .slice(before)
        .map(eventProblem)
        .find((one) => one !== null);
    if (problem === undefined || line.kind === 'damaged') return;
    this.report(line, 'not_mapped', `The line could not be mapped, and is kept as a notice: ${problem}`);
    // The agents that the line names for the first time stay: later lines refer to them.
    const made = this.#events.splice(before);
    this.#events.push(
      ...made.filter((event) => event.type === 'agent:created' && eventProblem(event) === null),
    );
    this.#addNotice(line, problem, line.record);
  }

  finish(): ReadGame {
    if (!this.#isComplete)
      this.report(this.#firstLine, 'game_without_end', 'The game that begins here has no GAME_END.');
    const origin = originOf(this.#firstLine.record, this.#firstLine.file);
    const report = { records: this.#records, diagnostics: this.#diagnostics };
    return { events: this.#events, report, isComplete: this.#isComplete, origin };
  }

  report({ file, line }: Pick<LogLine, 'file' | 'line'>, code: FormatDiagnosticCode, message: string): void {
    this.#diagnostics.push({ code, line, message, ...definedOnly({ file }) });
  }

  /** Returns why the mapping of a line failed. */
  #addContent(line: LogLine): string | undefined {
    try {
      if (line.kind === 'game') this.#addGameEvent(line);
      else if (line.kind === 'chat') this.#addChat(line);
      else if (line.kind === 'damaged') this.#addNotice(line, line.problem, line.text);
      else this.#write(line, { id: this.#nextId('record'), type: 'game_log:record', data: line.record });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  #addGameEvent(line: LineOf<'game'>): void {
    const { eventType, payload, record } = line;
    const action = actionOf(eventType);
    const isKept = action.toUpperCase() === eventType;
    const id = this.#nextId('event');
    const data = { payload, ...restOf(record, isKept ? ['event_type', 'payload'] : ['payload']) };
    this.#write(line, { id, type: `game:${action}`, data });
    if (eventType === 'GAME_END') this.#isComplete = true;
    for (const name of namesIn(payload.players)) this.#join(line, name);
    const alive = namesIn(payload.living_players);
    for (const name of alive) this.#join(line, name);
    if (alive.length > 0) {
      this.#living.clear();
      for (const name of alive) this.#living.add(name);
    }
    if (eventType === 'DEATH' && typeof payload.player === 'string') this.#living.delete(payload.player);
  }

  #addChat(line: LineOf<'chat'>): void {
    const { speaker, message: text, to, record } = line;
    const agentId = this.#takePart(line, speaker, 'speaks');
    const id = this.#nextId('chat');
    const data = { text, ...restOf(record, ['speaker', 'message']) };
    if (to?.length === 0)
      this.report(
        line,
        'recipient_missing',
        `The log does not name the receiver of the whisper of ${speaker}: no agent receives it.`,
      );
    // A receiver takes part from before the message.
    for (const name of to ?? []) this.#takePart(line, name, 'is spoken to');
    if (to === null) this.#write(line, { id, type: 'agent:text', agentId, messageId: id, data });
    else this.#write(line, { id, type: 'agent:piece_of_text', agentId, data });
    const others = [...new Set(to ?? this.#living)].filter((name) => name !== speaker);
    for (const [index, name] of others.entries())
      this.#write(line, {
        id: this.#eventIds.take(`${id}.${index + 1}`),
        type: 'user:message',
        agentId: this.#players.get(name) ?? name,
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
  }

  #takePart(line: LogLine, name: string, how: string): string {
    if (!this.#players.has(name)) {
      this.report(line, 'agent_not_created', `${name} ${how}, but is not a player of this game so far.`);
      this.#join(line, name);
    }
    return this.#players.get(name) ?? name;
  }

  #addNotice(line: LogLine, problem: string, raw: JsonValue): void {
    const { file } = line;
    const data = { problem, ...(file === undefined ? {} : { file: fileName(file) }), line: line.line, raw };
    this.#write(line, { id: this.#nextId('notice'), type: 'system:notice', data });
  }

  /** Numbers within the game, not the file, so that a game stays the same when its log is split or loses older games. */
  #nextId(kind: LineCount): string {
    this.#counts[kind] += 1;
    return this.#eventIds.take(`${kind}-${this.#counts[kind]}`);
  }

  #join(line: LogLine, name: string): void {
    if (this.#players.has(name)) return;
    const agentId = this.#agentIds.take(name === '' ? 'player' : name);
    this.#players.set(name, agentId);
    this.#living.add(name);
    this.#write(line, {
      id: this.#eventIds.take(`player-${agentId}`),
      type: 'agent:created',
      agentId,
      data: { name },
    });
  }

  #write({ time }: LogLine, { id, type, ...fields }: Omit<CapturedEvent, 'timestamp'>): void {
    this.#events.push({ id, type, timestamp: toTimestamp(time), ...fields });
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
      const begun = new GameWriter(line);
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
