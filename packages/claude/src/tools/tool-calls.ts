import type { JsonObject } from '@hansard/events';
import { RecentMap } from '../values/recent-map.ts';

/** What is known of a tool call when its result, its denial or its sub-agent comes. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly target: string | undefined;
  readonly metadata: JsonObject;
  /** Who made the call; undefined: the dispatched agent. */
  readonly agentId: string | undefined;
  /** What the call is referred to by: its event's id, or its message's id where the event has none yet. */
  readonly reference: string | undefined;
  /** Milliseconds since 1970. */
  readonly time: number;
}

const mostRemembered = 5_000;

/** The latest tool calls by their ids. The oldest are forgotten, so that a stream of any length fits. */
export class ToolCalls {
  readonly #calls = new RecentMap<ToolCallRecord>(mostRemembered);

  add(toolCallId: string, call: ToolCallRecord): void {
    this.#calls.set(toolCallId, call);
  }

  get(toolCallId: string | undefined): ToolCallRecord | undefined {
    return toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
  }
}
