import { type CapturedEvent, type JsonObject, jsonObjectSchema } from '@hansard/events';
import { z } from 'zod';

/** The time of a line. Null: its event has no recorded time. */
export const lineTimeSchema = z.iso.datetime({ offset: true }).nullable();
const everyLine = { timestamp: lineTimeSchema };
const atTurn = { ...everyLine, turn: z.string() };
const origin = {
  /** The dispatch of the line. */
  run_id: z.string().min(1),
  /** The event that the line is about. */
  event_id: z.string().min(1),
};
const payload = jsonObjectSchema;

/**
 * The lines of each stream: the fields of the five streams (G1) in a fixed order, then the source of the line. `whispers`
 * is a further stream (G2), so that text for some players is not in `chat`.
 */
export const streamLineSchemas = {
  game_events: z.strictObject({ ...atTurn, event_type: z.string(), payload, ...origin }),
  chat: z.strictObject({ ...atTurn, speaker: z.string(), message: z.string(), ...origin }),
  whispers: z.strictObject({
    ...atTurn,
    speaker: z.string(),
    /** Empty if the whisper does not name its receivers. */
    to: z.array(z.string()),
    message: z.string(),
    ...origin,
  }),
  agent_actions: z.strictObject({
    ...atTurn,
    agent: z.string(),
    action_type: z.string(),
    payload,
    ...origin,
  }),
  agent_reasoning: z.strictObject({ ...atTurn, agent: z.string(), thinking_process: z.string(), ...origin }),
  inference_trace: z.strictObject({
    ...everyLine,
    /** AGENT_REQUEST, TOOL_CALL, TOOL_RESULT and INFERENCE_COMPLETE; those that were read may have others. */
    event_type: z.string(),
    agent: z.string(),
    payload,
    ...origin,
  }),
} as const;

export type GameStream = keyof typeof streamLineSchemas;

/** The streams of the specification (G1), each a file. */
export const specifiedStreams = [
  'game_events',
  'chat',
  'agent_actions',
  'agent_reasoning',
  'inference_trace',
] as const satisfies readonly GameStream[];

export const gameStreams = Object.keys(streamLineSchemas) as readonly GameStream[];

/** A line and its stream. */
export type StreamLine = {
  [S in GameStream]: { readonly stream: S; readonly line: Readonly<z.infer<(typeof streamLineSchemas)[S]>> };
}[GameStream];

/**
 * A line as text with its line end: with the keys of the specification only, or with `run_id` and `event_id` (`isExtended`). Null: the
 * specification does not have its stream.
 */
export function streamText({ stream, line }: StreamLine, isExtended = false): string | null {
  if (isExtended) return `${JSON.stringify(line)}\n`;
  if (stream === 'whispers') return null;
  // Without a copy of each line: the keys that do not belong to the specification are the last ones.
  const { run_id, event_id } = line;
  const own = JSON.stringify({ run_id, event_id }).length - 1;
  return `${JSON.stringify(line).slice(0, -own - 1)}}\n`;
}

/** The agent of an event, and its time in the game. */
export interface Moment {
  readonly event: CapturedEvent;
  readonly agent: string;
  readonly turn: string;
}

/** The payload of an action: for each field a field of what it says, or `$agent` for the acting agent. */
export function shaped(
  shape: Readonly<Record<string, string>>,
  fields: JsonObject,
  agent: string,
): JsonObject {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [key, field === '$agent' ? agent : (fields[field] ?? null)]),
  );
}

/** The last fields of every line: its source. */
export function originOf({ id }: CapturedEvent, runId: string): { run_id: string; event_id: string } {
  return { run_id: runId, event_id: id };
}
