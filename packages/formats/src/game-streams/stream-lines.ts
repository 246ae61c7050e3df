import { jsonObjectSchema } from '@hansard/events';
import { z } from 'zod';

const everyLine = { timestamp: z.iso.datetime() };
const atTurn = { ...everyLine, turn: z.string() };
const origin = {
  /** The dispatch that the line is from. */
  run_id: z.string().min(1),
  /** The event that the line is about. */
  event_id: z.string().min(1),
};
const payload = jsonObjectSchema;

/**
 * The lines of each stream: the fields of the five streams (G1) in a fixed order, and the source of each line. `whispers` is a
 * further stream (G2): it keeps text for some players out of `chat`.
 */
export const streamLineSchemas = {
  game_events: z.strictObject({ ...atTurn, event_type: z.string(), payload, ...origin }),
  chat: z.strictObject({ ...atTurn, speaker: z.string(), message: z.string(), ...origin }),
  whispers: z.strictObject({
    ...atTurn,
    speaker: z.string(),
    /** Empty where the whisper does not say. */
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
    event_type: z.enum(['AGENT_REQUEST', 'TOOL_CALL', 'TOOL_RESULT', 'INFERENCE_COMPLETE']),
    agent: z.string(),
    payload,
    ...origin,
  }),
} as const;

export type GameStream = keyof typeof streamLineSchemas;

export const gameStreams = Object.keys(streamLineSchemas) as readonly GameStream[];

/** A line, and the stream that it belongs to. */
export type StreamLine = {
  [S in GameStream]: { readonly stream: S; readonly line: Readonly<z.infer<(typeof streamLineSchemas)[S]>> };
}[GameStream];
