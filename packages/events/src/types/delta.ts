/**
 * A piece of text on its way from a model (D8). Deltas reach communication providers and live streams, and are never
 * recorded: their types are outside what an event may be called, so the log has no way to hold them.
 */
export interface Delta {
  readonly type: 'delta:text' | 'delta:thinking' | 'delta:tool_input';
  readonly text: string;
  readonly agentId?: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
}
