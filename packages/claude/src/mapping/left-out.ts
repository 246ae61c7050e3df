/** Fields of every message that an event holds in another form: its type, its id, its time, its session (in `session:init`). */
export const identityFields = ['type', 'subtype', 'uuid', 'timestamp', 'session_id'] as const;

/**
 * What `narrative` fidelity leaves out (D7): results of tools, and contents of files and web pages that travel beside
 * the conversation. What is worth knowing of them is in the metadata of the tool calls. At `full` nothing is left out.
 */
export const leftOutAtNarrative = {
  /** Fields of messages and records. `deferred_tool_use` is a tool call with its input; the last three are what hooks wrote. */
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
  /** Fields of the blocks of a message. `citations` quote what was read. */
  block: ['citations', 'input', 'content', 'source', 'data', 'output'],
} as const;

/**
 * Streamed pieces of messages (`stream_event`) become deltas, which are never recorded (D8). Of their own fields only
 * what is said of the whole message (usage, stop reason, `ttft_ms`) is kept, in `agent:inference`.
 */
export const ephemeralKind = 'stream_event';
