import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { traceOf } from '@hansard/formats';
import { type Moment, originOf } from './moment.ts';
import { type GameStream, lineTimeSchema, type StreamLine, streamLineSchemas } from './stream-lines.ts';

/**
 * The lines that an event of a game log was read from: one, or that of a completed action and that of its result. Empty for an event that no
 * line says, such as the creation of an agent, and for one whose data has not what its line needs.
 */
export function recordedLines(
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
