import { type CapturedEvent, type JsonObject, type JsonValue, toTimestamp } from '@hansard/events';
import type { FormatOddity, FormatOddityCode } from '../format-report.ts';
import { createNamePool } from '../session-records/name-pool.ts';
import type { LogLine } from './lines-in-order.ts';
import type { ReadGame } from './read-game-log.ts';

/** Makes the events of one game of its lines. */
export interface GameWriter {
  add(line: LogLine): void;
  report(place: Pick<LogLine, 'file' | 'line'>, code: FormatOddityCode, message: string): void;
  finish(): ReadGame;
}

type LineOf<K extends LogLine['kind']> = Extract<LogLine, { kind: K }>;

export function createGameWriter(): GameWriter {
  const events: CapturedEvent[] = [];
  const oddities: FormatOddity[] = [];
  const eventIds = createNamePool(new Set());
  const agentIds = createNamePool(new Set());
  const players = new Map<string, string>();
  const living = new Set<string>();
  let firstLine: LogLine | null = null;
  let isComplete = false;
  let records = 0;

  return {
    add(line) {
      firstLine ??= line;
      if (line.kind !== 'damaged') records += 1;
      for (const { code, message } of line.oddities) report(line, code, message);
      if (line.kind === 'game') addGameEvent(line);
      else if (line.kind === 'chat') addChat(line);
      else addOther(line);
    },

    report,

    finish() {
      if (firstLine !== null && !isComplete)
        report(firstLine, 'game_without_end', 'The game that begins here has no GAME_END.');
      return { events, report: { records, oddities }, isComplete };
    },
  };

  function report(
    { file, line }: Pick<LogLine, 'file' | 'line'>,
    code: FormatOddityCode,
    message: string,
  ): void {
    oddities.push({ code, line, message, ...(file === undefined ? {} : { file }) });
  }

  function addGameEvent(line: LineOf<'game'>): void {
    const { eventType, payload, record } = line;
    const action = actionOf(eventType);
    const isKept = action.toUpperCase() === eventType;
    const id = eventIds.take(`event-${line.line}`);
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
    const { speaker, message: text, isWhisper, record } = line;
    if (!players.has(speaker)) {
      report(line, 'agent_not_created', `${speaker} speaks, but is no player of this game so far.`);
      join(line, speaker);
    }
    const agentId = players.get(speaker) ?? speaker;
    const id = eventIds.take(`chat-${line.line}`);
    const data = { text, ...restOf(record, ['speaker', 'message']) };
    if (isWhisper) {
      report(line, 'recipient_missing', `The log does not say to whom ${speaker} whispers: nobody heard it.`);
      write(line, { id, type: 'agent:piece_of_text', agentId, data });
      return;
    }
    write(line, { id, type: 'agent:text', agentId, messageId: id, data });
    const others = [...living].filter((name) => name !== speaker);
    for (const [index, name] of others.entries())
      write(line, {
        id: eventIds.take(`${id}.${index + 1}`),
        type: 'user:message',
        agentId: players.get(name) ?? name,
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
  }

  function addOther(line: LineOf<'other' | 'damaged'>): void {
    const id = eventIds.take(`line-${line.line}`);
    if (line.kind === 'other') {
      write(line, { id, type: 'game_log:record', data: line.record });
      return;
    }
    const { problem, text: raw, file } = line;
    const data = { problem, ...(file === undefined ? {} : { file }), line: line.line, raw };
    write(line, { id, type: 'system:notice', data });
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

/** Its turn, and what else the line says that its event does not. */
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
