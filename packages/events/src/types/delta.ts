/**
 * A piece of text that a model streams (D8). Deltas reach communication providers and live streams and are never
 * recorded: their types are not valid event types, so the log cannot hold them.
 */
export interface Delta {
  readonly type: 'delta:text' | 'delta:thinking' | 'delta:tool_input';
  readonly text: string;
  readonly agentId?: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
}
