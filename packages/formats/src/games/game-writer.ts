import {
  type BalanceSheet,
  type CapturedEvent,
  definedOnly,
  eventProblem,
  type JsonObject,
  type JsonValue,
  messageOf,
  toTimestamp,
} from '@hansard/events';
import type { FormatDiagnostic, FormatDiagnosticCode } from '../lines/format-diagnostic.ts';
import { originOf } from '../lines/log-origin.ts';
import { createNamePool } from '../lines/name-pool.ts';
import { describeDamage, fileName } from '../lines/parse-lines.ts';
import type { LineOf, LogLine, ReadGame, StreamLogLine } from './game-lines.ts';
import { type JoinedLines, joinLines } from './join-lines.ts';
import { isAgentRequest, type TraceParts, tracedEvent } from './trace-line.ts';

/** The lines of one game. */
export interface GameLines {
  /** The line that begins the game, and identifies it. */
  readonly first: StreamLogLine;
  readonly lines: readonly LogLine[];
  /** Truncated lines, which are left out and reported. */
  readonly unfinished: readonly LineOf<'damaged'>[];
}

/** Reads the lines of one game as events. `sheet` has what the game has, and gets what happens to it. */
export function readGame({ first, lines, unfinished }: GameLines, sheet: BalanceSheet): ReadGame {
  const joined = joinLines(lines);
  const writer = new GameWriter(joined, new SaidIds(lines), sheet);
  const hasStart = lines.some((line) => line.kind === 'game' && line.eventType === 'GAME_START');
  if (!hasStart)
    writer.report(
      first,
      'game_without_start',
      'The log begins in the middle of a game: there is no GAME_START before.',
    );
  for (const line of joined.lines) writer.add(line);
  for (const line of unfinished) {
    writer.report(line, line.code, describeDamage(line));
    sheet.leaveOut('records', 'unfinished');
    sheet.leaveOut('bytes', 'unfinished', line.bytes);
  }
  const isComplete = lines.some((line) => line.kind === 'game' && line.eventType === 'GAME_END');
  if (!isComplete) writer.report(first, 'game_without_end', 'The game that begins here has no GAME_END.');
  const { events, diagnostics } = writer;
  const records = lines.filter(({ kind }) => kind !== 'damaged').length;
  const report = { records, diagnostics, balance: sheet.balance };
  return { events, report, isComplete, origin: originOf(first.record, first.file) };
}

type IdKind = 'event' | 'chat' | 'action' | 'thought' | 'trace' | 'record' | 'notice';

/** Maps the lines of one game to events. `stream` in their data is the file that a line is of. */
class GameWriter {
  readonly events: CapturedEvent[] = [];
  readonly diagnostics: FormatDiagnostic[] = [];
  readonly #joined: JoinedLines;
  readonly #saidIds: SaidIds;
  readonly #sheet: BalanceSheet;
  readonly #eventIds = createNamePool(new Set());
  readonly #agentIds = createNamePool(new Set());
  readonly #agents = new Map<string, string>();
  readonly #names = new Map<string, string>();
  /** The agents that play. */
  readonly #players = new Set<string>();
  readonly #living = new Set<string>();
  readonly #counts = new Map<IdKind, number>();
  /** The event of a line that others refer to. */
  readonly #idOf = new Map<LogLine, string>();

  constructor(joined: JoinedLines, saidIds: SaidIds, sheet: BalanceSheet) {
    this.#joined = joined;
    this.#saidIds = saidIds;
    this.#sheet = sheet;
  }

  add(line: LogLine): void {
    const action = this.#joined.actionOf.get(line);
    const said = action === undefined ? [line] : [line, action];
    for (const one of said) for (const { code, message } of one.diagnostics) this.report(one, code, message);
    const before = this.events.length;
    this.#addMapped(line, action);
    if (this.events.length === before) return;
    for (const { bytes } of said) {
      this.#sheet.record('records');
      this.#sheet.record('bytes', bytes);
    }
  }

  /** Adds the events of a line, or a notice with the line if it cannot be mapped. */
  #addMapped(line: LogLine, action: LineOf<'action'> | undefined): void {
    const before = this.events.length;
    const problem =
      this.#addContent(line, action) ??
      this.events
        .slice(before)
        .map(eventProblem)
        .find((one) => one !== null);
    if (problem === undefined || line.kind === 'damaged') return;
    this.report(line, 'not_mapped', `The line could not be mapped, and is kept as a notice: ${problem}`);
    // The agents that the line names for the first time stay: later lines refer to them.
    const made = this.events.splice(before);
    this.events.push(
      ...made.filter((event) => event.type === 'agent:created' && eventProblem(event) === null),
    );
    this.#addNotice(line, problem, line.record);
  }

  report({ file, line }: Pick<LogLine, 'file' | 'line'>, code: FormatDiagnosticCode, message: string): void {
    this.diagnostics.push({ code, line, message, ...definedOnly({ file }) });
  }

  /** Returns why the mapping of a line failed. */
  #addContent(line: LogLine, action: LineOf<'action'> | undefined): string | undefined {
    try {
      if (line.kind === 'game') this.#addGameEvent(line);
      else if (line.kind === 'chat') this.#addChat(line);
      else if (line.kind === 'action') this.#addAction(line);
      else if (line.kind === 'thought') this.#addThought(line);
      else if (line.kind === 'trace') this.#addTrace(line, action);
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
    const rest = restOf(record, isKept ? ['event_type', 'payload'] : ['payload']);
    this.#write(line, { id, type: `game:${action}`, data: { stream: 'game_events', payload, ...rest } });
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
    const stream = to === null ? 'chat' : 'whispers';
    const data = { text, stream, ...restOf(record, ['speaker', 'message']) };
    if (to?.length === 0)
      this.report(
        line,
        'recipient_missing',
        `The log does not name the receiver of the whisper of ${speaker}: no agent receives it.`,
      );
    // A receiver takes part from before the message.
    for (const name of to ?? []) this.#takePart(line, name, 'is spoken to');
    const said = this.#saidIds.say(speaker, text);
    // The trace names the whisper, too, if it has its deliveries.
    const isTold = to !== null && to.length > 0;
    const id = isTold ? this.#eventIds.take(said.id) : this.#nextId('chat');
    const call = this.#joined.spokenBy.get(line);
    const links = { agentId, messageId: said.id, ...definedOnly({ cause: call && this.#idOf.get(call) }) };
    this.#write(line, { id, type: to === null ? 'agent:text' : 'agent:piece_of_text', ...links, data });
    const others = [...new Set(to ?? this.#living)].filter((name) => name !== speaker);
    for (const [index, name] of others.entries()) {
      if (said.isRequestOf(name)) continue;
      this.#write(line, {
        id: this.#eventIds.take(`${id}.${index + 1}`),
        type: 'user:message',
        agentId: this.#agents.get(name) ?? name,
        substance: id,
        data: { text, source: { kind: 'agent', agentId } },
      });
    }
  }

  #addAction(line: LineOf<'action'>): void {
    const { agent, actionType: action_type, payload, record } = line;
    if (this.#joined.differing.has(line))
      this.report(
        line,
        'streams_differ',
        `No call of ${agent} in the inference trace at this time has the values of the action. Both are kept.`,
      );
    this.#write(line, {
      id: this.#nextId('action'),
      type: 'game_log:action',
      agentId: this.#takePart(line, agent, 'acts'),
      data: { stream: 'agent_actions', action_type, payload, ...restOf(record, actionKeys) },
    });
  }

  #addThought(line: LineOf<'thought'>): void {
    const { agent, text, record } = line;
    const id = this.#nextId('thought');
    this.#write(line, {
      id,
      type: 'agent:thinking',
      agentId: this.#appear(line, agent),
      messageId: id,
      data: { text, stream: 'agent_reasoning', ...restOf(record, ['agent', 'thinking_process']) },
    });
  }

  #addTrace(line: LineOf<'trace'>, action: LineOf<'action'> | undefined): void {
    const { agent, eventType, record } = line;
    const id = this.#nextId('trace');
    this.#idOf.set(line, id);
    const agentId = this.#appear(line, agent);
    const call = this.#joined.callOf.get(line);
    if (call === undefined && eventType === 'TOOL_RESULT')
      this.report(line, 'call_missing', `${agent} has no open call of this tool; the result is kept.`);
    const parts: TraceParts = {
      id,
      callId: (call && this.#idOf.get(call)) ?? id,
      idOf: (name) => this.#appear(line, name),
      nameOf: (other) => this.#nameOf(other),
      saidId: (speaker, text) => this.#saidIds.receive(speaker, text, agent),
    };
    const { data, ...event } = tracedEvent(line, parts);
    const acted = action && {
      action_type: action.actionType,
      payload: action.payload,
      ...restOf(action.record, actionKeys),
    };
    this.#write(line, {
      id,
      agentId,
      ...event,
      data: {
        ...data,
        stream: 'inference_trace',
        ...definedOnly({ action: acted }),
        ...restOf(record, ['agent', 'event_type', 'payload']),
      },
    });
  }

  /** The id of an agent that plays. */
  #takePart(line: LogLine, name: string, how: string): string {
    if (!this.#players.has(name)) {
      this.report(line, 'agent_not_created', `${name} ${how}, but is not a player of this game so far.`);
      this.#join(line, name);
    }
    return this.#agents.get(name) ?? name;
  }

  /** The id of an agent of which the log does not say whether it plays. */
  #appear(line: LogLine, name: string): string {
    this.#create(line, name);
    return this.#agents.get(name) ?? name;
  }

  #nameOf(agentId: string | undefined): string {
    return this.#names.get(agentId ?? '') ?? '';
  }

  #addNotice(line: LogLine, problem: string, raw: JsonValue): void {
    const { file } = line;
    const data = { problem, ...(file === undefined ? {} : { file: fileName(file) }), line: line.line, raw };
    this.#write(line, { id: this.#nextId('notice'), type: 'system:notice', data });
  }

  /** Numbers within the game, not the file, so that a game stays the same when its log is split or loses older games. */
  #nextId(kind: IdKind): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return this.#eventIds.take(`${kind}-${count}`);
  }

  #join(line: LogLine, name: string): void {
    if (this.#players.has(name)) return;
    this.#players.add(name);
    this.#living.add(name);
    this.#create(line, name);
  }

  #create(line: LogLine, name: string): void {
    if (this.#agents.has(name)) return;
    const agentId = this.#agentIds.take(name === '' ? 'player' : name);
    this.#agents.set(name, agentId);
    this.#names.set(agentId, name);
    this.#write(line, {
      id: this.#eventIds.take(`player-${agentId}`),
      type: 'agent:created',
      agentId,
      data: { name },
    });
  }

  #write({ time }: LogLine, { id, type, ...fields }: Omit<CapturedEvent, 'timestamp'>): void {
    this.events.push({ id, type, timestamp: time === null ? null : toTimestamp(time), ...fields });
  }
}

const actionKeys = ['agent', 'action_type', 'payload'];

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
 * Names the texts that agents say: a hash of speaker and text, and which of the equal texts of this speaker it is. So the chat and the
 * trace give a text the same id, whichever of them has it first, and no id changes when a file grows.
 */
class SaidIds {
  readonly #said = new Map<string, number>();
  readonly #received = new Map<string, number>();
  /** How often the trace has each text for each receiver. */
  readonly #requests = new Map<string, number>();

  constructor(lines: readonly LogLine[]) {
    for (const line of lines)
      if (isAgentRequest(line))
        increment(this.#requests, keyOf(line.payload.from, line.payload.message, line.agent));
  }

  /** The id of what a speaker says now. */
  say(speaker: string, text: string): { readonly id: string; isRequestOf(receiver: string): boolean } {
    const number = increment(this.#said, keyOf(speaker, text));
    return {
      id: idOf(speaker, text, number),
      // The trace has this delivery itself.
      isRequestOf: (receiver) => (this.#requests.get(keyOf(speaker, text, receiver)) ?? 0) >= number,
    };
  }

  /** The id of what a receiver receives now. */
  receive(speaker: string, text: string, receiver: string): string {
    return idOf(speaker, text, increment(this.#received, keyOf(speaker, text, receiver)));
  }
}

function increment(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

function keyOf(...texts: readonly string[]): string {
  return JSON.stringify(texts);
}

function idOf(speaker: string, text: string, number: number): string {
  const key = keyOf(speaker, text);
  const hash = [0x811c9dc5, 0x01000193].map((seed) => hashOf(key, seed).toString(16).padStart(8, '0'));
  return `said-${hash.join('')}-${number}`;
}

/** FNV-1a over UTF-16 units, with a last mix (murmur3). It names texts and protects nothing. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
