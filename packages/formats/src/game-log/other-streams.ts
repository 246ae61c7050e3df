import { isPlainObject, type JsonObject } from '@hansard/events';

/** The streams of the specification that are not read yet. Beside a game the lines of the first three are kept as records. */
export type OtherStream = 'agent_actions' | 'agent_reasoning' | 'inference_trace' | 'sft_dataset';

/** The stream that a record is a line of, if it is one beside the game; null: none. */
export function otherStreamOf(record: JsonObject): OtherStream | null {
  const { prompt, completion, metadata, agent, event_type, action_type, thinking_process, payload } = record;
  if (typeof prompt === 'string' && typeof completion === 'string' && isPlainObject(metadata))
    return 'game_id' in metadata || 'agent_name' in metadata ? 'sft_dataset' : null;
  if (!hasPlace(record) || typeof agent !== 'string') return null;
  if (typeof thinking_process === 'string') return 'agent_reasoning';
  if (typeof action_type === 'string') return 'agent_actions';
  return typeof event_type === 'string' && isPlainObject(payload) ? 'inference_trace' : null;
}

/** The lines of all streams have a time or a turn. */
export function hasPlace({ timestamp, turn }: JsonObject): boolean {
  return typeof timestamp === 'string' || typeof turn === 'string';
}
