import { isPlainObject, type JsonObject } from '@hansard/events';

/** A record of a game log, as the stream that its keys show (2.1 to 2.5 of the specification of game logs). */
export type GameRecord =
  | {
      readonly kind: 'game';
      readonly eventType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | {
      readonly kind: 'chat';
      readonly speaker: string;
      readonly message: string;
      /** The receivers; null for all, empty if the log does not name them. */
      readonly to: readonly string[] | null;
      readonly record: JsonObject;
    }
  | {
      readonly kind: 'action';
      readonly agent: string;
      readonly actionType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | { readonly kind: 'thought'; readonly agent: string; readonly text: string; readonly record: JsonObject }
  | {
      readonly kind: 'trace';
      readonly agent: string;
      readonly eventType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | { readonly kind: 'other'; readonly record: JsonObject };

/** The streams of a game log that are read as events. Lines of each file and stream keep their order. */
export type StreamKind = Exclude<GameRecord['kind'], 'other'>;

/** The stream of a record. */
export function gameRecordOf(record: JsonObject): GameRecord {
  const { event_type: eventType, action_type: actionType, thinking_process: text, payload } = record;
  const { speaker, message, agent } = record;
  if (typeof agent === 'string') {
    if (typeof text === 'string') return { kind: 'thought', agent, text, record };
    if (isPlainObject(payload)) {
      const content = { agent, payload: payload as JsonObject, record };
      if (typeof actionType === 'string') return { kind: 'action', actionType, ...content };
      if (typeof eventType === 'string') return { kind: 'trace', eventType, ...content };
    }
  }
  // A line of the inference trace has these too, and an agent.
  if (typeof eventType === 'string' && isPlainObject(payload) && agent === undefined)
    return { kind: 'game', eventType, payload: payload as JsonObject, record };
  if (typeof speaker === 'string' && typeof message === 'string')
    return { kind: 'chat', speaker, message, to: receiversIn(record), record };
  return { kind: 'other', record };
}

function receiversIn({ to, is_whisper: isWhisper }: JsonObject): string[] | null {
  if (Array.isArray(to)) return to.filter((name): name is string => typeof name === 'string');
  return isWhisper === true ? [] : null;
}

/** Whether a record is a pair for supervised fine-tuning. Such rows belong to a game, and are not events of it. */
export function isTrainingPair({ prompt, completion, metadata }: JsonObject): boolean {
  return (
    typeof prompt === 'string' &&
    typeof completion === 'string' &&
    isPlainObject(metadata) &&
    ('game_id' in metadata || 'agent_name' in metadata)
  );
}

/** The lines of all streams have a time, which an export writes as null if it is not recorded, or a turn. */
export function hasPlace({ timestamp, turn }: JsonObject): boolean {
  return typeof timestamp === 'string' || timestamp === null || typeof turn === 'string';
}
