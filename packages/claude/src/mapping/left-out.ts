/** Fields of every message that an event holds in another form: type, id, time and session (in `session:init`). */
export const identityFields = ['type', 'subtype', 'uuid', 'timestamp', 'session_id'] as const;

/**
 * Streamed pieces of messages (`stream_event`) become deltas, which are never recorded (D8). Only their fields about the
 * whole message (usage, stop reason, `ttft_ms`) are kept, in `agent:inference`.
 */
export const ephemeralKind = 'stream_event';
