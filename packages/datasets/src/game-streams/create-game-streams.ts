import {
  type CapturedEvent,
  type EventOf,
  isEventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import { matchesEventType, shownEvent } from '@hansard/events/plain';
import { type TraceContent, traceOf } from '@hansard/formats';
import type { Cast } from './cast.ts';
import { Company, type GameAudience } from './company.ts';
import { type GameMapping, type GameMappingInput, parseGameMapping } from './game-mapping.ts';
import { MessageWatch } from './message-watch.ts';
import { Sayings } from './sayings.ts';
import {
  type GameStream,
  lineTimeSchema,
  type Moment,
  originOf,
  type StreamLine,
  shaped,
  streamLineSchemas,
} from './stream-lines.ts';

/** The streams of one dispatch, written while its events arrive. Memory does not grow with the number of events. */
export interface GameStreams {
  /**
   * The lines that an event adds. The line of a call comes when the call was carried out, the line of thoughts when their
   * message is over, and the line of an utterance when all possible receivers have received it, or some will not. Lines
   * have the time and the turn in which their events began.
   */
  add(event: CapturedEvent): StreamLine[];
  /** The remaining lines, after the last event. */
  finish(): StreamLine[];
  /** The number of calls without a line, because the log lacks the input that the mapping names; by tool. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What texts have that `parts` of the mapping does not name or that is not whole, such as `unnamed <plan>`; how often. It is a thought. */
  readonly faults: Readonly<Record<string, number>>;
  /**
   * The players that events of the game name, but that match no agent. If there are any, only what all agents have received is public.
   */
  readonly unmatchedPlayers: readonly string[];
}

export interface GameStreamsOptions {
  readonly runId: string;
  /** The cast of the whole log. It learns what `add` receives. */
  readonly cast: Cast;
  /** What reasoning has of a tool call; null: nothing. Absent: its tool and its whole input. */
  readonly callText?: (call: EventOf<'agent:tool_call'>, agent: string) => string | null;
}

/** @throws FORMAT_MAPPING_INVALID */
export function createGameStreams(input: GameMappingInput, options: GameStreamsOptions): GameStreams {
  const { runId, cast, callText } = options;
  const mapping = parseGameMapping(input);
  const names = new Map<string, string>();
  const company = new Company(mapping, cast);
  const sayings = new Sayings(runId, nameOf);
  const messages = new MessageWatch(mapping, runId, company, sayings, callText);
  const calls = new CallWatch(mapping, runId, company, sayings);
  let latestTurn = mapping.turn.first;

  return {
    leftOut: calls.leftOut,
    faults: messages.faults,
    get unmatchedPlayers() {
      return company.unmatched;
    },

    add(recorded) {
      const event = shownEvent(recorded);
      if (isEventOf(event, 'agent:created') && event.data.name !== undefined)
        names.set(event.agentId ?? '', event.data.name);
      company.observe(event);
      const named = recorded.data[mapping.turn.field];
      const turn = typeof named === 'string' ? named : latestTurn;
      if (matchesAny(mapping.turn.events, event)) latestTurn = turn;
      const moment = { event, agent: nameOf(event.agentId), turn };
      if (mapping.recorded) return recordedLines(moment, nameOf, runId);
      const isOfGame = matchesAny(mapping.gameEvents.events, event);
      return [
        ...(isOfGame ? [...messages.pass(), gameLine(moment)] : []),
        ...messages.add(moment),
        ...(mapping.whispers.piecesOfText ? addPiece(moment) : []),
        ...calls.add(moment),
        ...inferenceLine(moment, nameOf, runId),
      ];
    },

    finish: () => messages.finish(),
  };

  function nameOf(agentId = ''): string {
    return names.get(agentId) ?? (agentId === '' ? 'dispatched agent' : agentId);
  }

  function gameLine({ event, turn }: Moment): StreamLine {
    const { names: typeNames, payload: field } = mapping.gameEvents;
    const { [mapping.turn.field]: _turn, ...data } = event.data;
    const action = event.type.slice(event.type.indexOf(':') + 1);
    const line = {
      timestamp: event.timestamp,
      turn,
      event_type: typeNames[event.type] ?? action.toUpperCase(),
      payload: field === undefined ? data : ((data[field] ?? {}) as JsonObject),
      ...originOf(event, runId),
    };
    return { stream: 'game_events', line };
  }

  /** Its line comes with the next utterance or action, when all deliveries have been recorded. */
  function addPiece(moment: Moment): StreamLine[] {
    const { event } = moment;
    const continues = event.type === 'agent:piece_of_text' || event.type === 'agent:tool_result';
    const settled = continues ? sayings.settle(({ isWhisper }) => isWhisper) : [];
    if (!isEventOf(event, 'agent:piece_of_text')) return settled;
    const { text: message } = event.data;
    const audience = company.audience(event.agentId ?? '');
    const said = { moment, message, ids: new Set([event.id]), audience };
    return [...settled, ...sayings.add([{ ...said, isWhisper: true }])];
  }
}

function matchesAny(patterns: readonly string[], { type }: CapturedEvent): boolean {
  return patterns.some((pattern) => matchesEventType(pattern, type));
}

/** The line of the inference trace for an event, if it has one. */
function inferenceLine(
  { event, agent }: Moment,
  nameOf: (agentId: string | undefined) => string,
  runId: string,
): StreamLine[] {
  const traced = traceOf(event, nameOf);
  if (traced === null) return [];
  const line = { timestamp: event.timestamp, ...between(traced, agent), ...originOf(event, runId) };
  return [{ stream: 'inference_trace', line }];
}

/** In the order of the specification. */
function between({ event_type, payload }: TraceContent, agent: string) {
  return { event_type, agent, payload };
}

/**
 * The lines that an event of a game log was read from: one, or that of a completed action and that of its result. Empty for an event that no
 * line says, such as the creation of an agent, and for one whose data has not what its line needs.
 */
function recordedLines(
  moment: Moment,
  nameOf: (agentId: string | undefined) => string,
  runId: string,
): StreamLine[] {
  const { event } = moment;
  const origin = originOf(event, runId);
  const line = lineOf(moment, nameOf);
  const own = line === null ? [] : [{ stream: event.data.stream, line: { ...line, ...origin } }];
  const { action } = event.data;
  const acted = isPlainObject(action) ? [actionLine(moment, action as JsonObject)] : [];
  return [...acted.map((one) => ({ stream: 'agent_actions', line: { ...one, ...origin } })), ...own].filter(
    isStreamLine,
  );
}

/** Checked, because anyone can append events with such data. */
function isStreamLine(made: { stream: JsonValue | undefined; line: JsonObject }): made is StreamLine {
  const { stream, line } = made;
  if (typeof stream !== 'string' || !Object.hasOwn(streamLineSchemas, stream)) return false;
  return streamLineSchemas[stream as GameStream].safeParse(line).success;
}

function lineOf(moment: Moment, nameOf: (agentId: string | undefined) => string): JsonObject | null {
  const { event, agent, turn } = moment;
  const { stream, text, payload = {} } = event.data;
  const timestamp = timeOf(event, event.data);
  const record = recordIn(event.data);
  switch (stream) {
    case 'game_events':
      return { timestamp, turn, event_type: record.event_type ?? typeOf(event), payload };
    case 'chat':
      return { timestamp, turn, speaker: agent, message: text ?? null };
    case 'whispers':
      return { timestamp, turn, speaker: agent, to: record.to ?? [], message: text ?? null };
    case 'agent_actions':
      return actionLine(moment, event.data);
    case 'agent_reasoning':
      return { timestamp, turn, agent, thinking_process: text ?? null };
    case 'inference_trace': {
      const traced = traceOf(event, nameOf);
      const event_type = traced?.event_type ?? event.data.event_type ?? null;
      return { timestamp, event_type, agent, payload: event.data.payload ?? traced?.payload ?? null };
    }
    default:
      return null;
  }
}

/** The line of an action in the data of its event, or in that of the result of its call. */
function actionLine({ event, agent, turn: latest }: Moment, data: JsonObject): JsonObject {
  const { turn = latest, action_type = null, payload = null } = data;
  return { timestamp: timeOf(event, data), turn, agent, action_type, payload };
}

/** The exact time of the line, which may have more digits than that of its event. */
function timeOf({ timestamp }: CapturedEvent, data: JsonObject): JsonValue {
  const { timestamp: exact } = recordIn(data);
  return isZoned(exact) ? exact : timestamp;
}

function isZoned(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && lineTimeSchema.safeParse(value).success;
}

function recordIn({ record }: JsonObject): JsonObject {
  return isPlainObject(record) ? (record as JsonObject) : {};
}

function typeOf({ type }: CapturedEvent): string {
  return type.slice(type.indexOf(':') + 1).toUpperCase();
}

interface OpenCall {
  readonly moment: Moment;
  readonly input: JsonValue | undefined;
  readonly audience: GameAudience;
  /** The pieces of text that the tool recorded. */
  readonly pieces: Set<string>;
}

/** Waits for the results of calls that speak or act. A refused call said and changed nothing. */
class CallWatch {
  readonly leftOut: Record<string, number> = {};
  readonly #mapping: Pick<GameMapping, 'chat' | 'whispers' | 'actions'>;
  readonly #runId: string;
  readonly #company: Company;
  readonly #sayings: Sayings;
  readonly #mapped: ReadonlySet<string>;
  readonly #open = new Map<string, OpenCall>();

  constructor(mapping: GameMapping, runId: string, company: Company, sayings: Sayings) {
    this.#mapping = mapping;
    this.#runId = runId;
    this.#company = company;
    this.#sayings = sayings;
    const { chat, whispers, actions } = mapping;
    this.#mapped = new Set([chat.tools, whispers.tools, actions].flatMap(Object.keys));
  }

  add(moment: Moment): StreamLine[] {
    const { event } = moment;
    const key = `${event.agentId ?? ''} ${event.data.toolCallId}`;
    if (isEventOf(event, 'agent:tool_call')) {
      if (!this.#mapped.has(event.data.tool)) return [];
      const audience = this.#company.audience(event.agentId ?? '');
      this.#open.set(key, { moment, input: event.data.input, audience, pieces: new Set() });
      return [];
    }
    this.#followSpeech(event);
    const call = this.#open.get(key);
    if (call === undefined) return [];
    if (isEventOf(event, 'harness:hook_decision')) {
      // The final input of the tool.
      const { decision, input } = event.data as { decision: string; input?: JsonValue };
      if (decision === 'alter' && input !== undefined) this.#open.set(key, { ...call, input });
    } else if (isEventOf(event, 'agent:tool_result')) {
      this.#open.delete(key);
      if (event.data.status === 'completed') return this.#linesOf(call);
    }
    return [];
  }

  /** Notes the texts that a speaking tool recorded, and their receivers. */
  #followSpeech({ id, type, agentId = '', substance, cause }: CapturedEvent): void {
    if (type !== 'agent:piece_of_text' && type !== 'user:message') return;
    const causes = [cause ?? []].flat();
    for (const { moment, pieces, audience } of this.#open.values()) {
      const isCaused = causes.includes(moment.event.id);
      if (type === 'agent:piece_of_text') {
        if (isCaused) pieces.add(id);
      } else if (isCaused || (substance !== undefined && pieces.has(substance))) audience.reached(agentId);
    }
  }

  #linesOf({ moment, input, audience, pieces }: OpenCall): StreamLine[] {
    const { event, agent, turn } = moment;
    const tool = String(event.data.tool);
    const when = { timestamp: event.timestamp, turn };
    const origin = originOf(event, this.#runId);
    const fields = isPlainObject(input) ? (input as JsonObject) : {};
    const lines: StreamLine[] = [];
    let isWhole = input !== undefined;

    const spoken = ownValue(this.#mapping.chat.tools, tool);
    if (spoken !== undefined) {
      const message = fields[spoken];
      // A tool without recorded deliveries speaks to all, as the mapping says.
      const isTold = pieces.size > 0 || audience.receivers.length > 0;
      if (typeof message !== 'string') isWhole = false;
      else if (!isTold) lines.push(this.#sayings.chat({ moment, message }));
      else lines.push(this.#sayings.close({ moment, message, audience, isWhisper: false }));
    }
    const whisper = ownValue(this.#mapping.whispers.tools, tool);
    if (whisper !== undefined) {
      const message = fields[whisper.message];
      const to = namesIn(whisper.to === undefined ? undefined : fields[whisper.to]);
      if (typeof message === 'string')
        lines.push({ stream: 'whispers', line: { ...when, speaker: agent, to, message, ...origin } });
      else isWhole = false;
    }
    const action = ownValue(this.#mapping.actions, tool);
    if (action !== undefined && input !== undefined) {
      const { type: action_type, payload: shape } = action;
      const payload =
        shape === undefined ? (isPlainObject(input) ? fields : { input }) : shaped(shape, fields, agent);
      lines.push({ stream: 'agent_actions', line: { ...when, agent, action_type, payload, ...origin } });
    }
    if (!isWhole) this.leftOut[tool] = (this.leftOut[tool] ?? 0) + 1;
    return lines;
  }
}

function namesIn(value: JsonValue | undefined): string[] {
  return [value ?? []].flat().filter((name): name is string => typeof name === 'string');
}

/** Looks up own keys only: a tool may have the name of an inherited property. */
function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
