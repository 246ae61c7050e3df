import type { JsonObject } from '@hansard/events';
import { RecentMap } from '../values/recent-map.ts';

/** A tool call, kept until its result, its denial or its sub-agent refers to it. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly target: string | undefined;
  readonly metadata: JsonObject;
  /** The agent that made the call; undefined for the dispatched agent. */
  readonly agentId: string | undefined;
  /** The id that refers to the call: that of its event, or of its message if the event has none. */
  readonly reference: string | undefined;
  /** Milliseconds since 1970. */
  readonly time: number;
}

const mostRemembered = 5_000;

/** The latest tool calls by id. The oldest are dropped, so that memory is bounded. */
export class ToolCalls {
  readonly #calls = new RecentMap<ToolCallRecord>(mostRemembered);

  add(toolCallId: string, call: ToolCallRecord): void {
    this.#calls.set(toolCallId, call);
  }

  get(toolCallId: string | undefined): ToolCallRecord | undefined {
    return toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
  }
}
