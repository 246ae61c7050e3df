/** Fields of every message that an event holds in another form: type, id, time and session (in `session:init`). */
export const identityFields = ['type', 'subtype', 'uuid', 'timestamp', 'session_id'] as const;

/**
 * Fields that `narrative` fidelity leaves out (D7): results of tools, and contents of files and web pages beside the
 * conversation. A summary of them is in the metadata of the tool calls. `full` leaves nothing out.
 */
export const leftOutAtNarrative = {
  /** Fields of messages and records. `deferred_tool_use` is a tool call with its input; the last three hold output of hooks. */
  message: [
    'tool_use_result',
    'toolUseResult',
    'mcpMeta',
    'pasted_content',
    'inline_pastes',
    'file_attachments',
    'deferred_tool_use',
    'planContent',
    'stdout',
    'stderr',
    'output',
    'hookErrors',
    'hookAdditionalContext',
  ],
  /** Fields of the blocks of a message. `citations` quote the text that was read. */
  block: ['citations', 'input', 'content', 'source', 'data', 'output'],
} as const;

/**
 * Streamed pieces of messages (`stream_event`) become deltas, which are never recorded (D8). Only their fields about the
 * whole message (usage, stop reason, `ttft_ms`) are kept, in `agent:inference`.
 */
export const ephemeralKind = 'stream_event';
