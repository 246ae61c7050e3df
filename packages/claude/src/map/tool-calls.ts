import type { JsonObject } from '@hansard/events';
import { type Horizon, RecentMap } from './horizon.ts';

/** A tool call, kept until its result, its denial or its sub-agent refers to it. */
export interface ToolCallRecord {
  readonly tool: string;
  readonly target: string | undefined;
  readonly metadata: JsonObject;
  /** The agent that made the call; undefined for the dispatched agent. */
  readonly agentId: string | undefined;
  /** The id that refers to the call: that of its event, or of its message if the event has none. */
  readonly reference: string | undefined;
  /** Milliseconds since 1970: see `EventWriter`. */
  readonly time: number;
  /** Whether the message of the call has a time. */
  readonly isTimed: boolean;
}

const mostRemembered = 5_000;

/** The latest tool calls by id. The oldest are dropped, so that memory is bounded. */
export class ToolCalls {
  readonly #calls = new RecentMap<ToolCallRecord>(mostRemembered);
  /** The times of the calls without a result. */
  readonly #open = new Map<string, number>();
  readonly #horizon: Horizon;

  constructor(horizon: Horizon) {
    this.#horizon = horizon;
  }

  add(toolCallId: string, call: ToolCallRecord): void {
    this.#calls.set(toolCallId, call);
    this.#open.set(toolCallId, call.time);
  }

  /** Notes that a call has its result. */
  answered(toolCallId: string): void {
    this.#open.delete(toolCallId);
  }

  /** Notes that all calls except these have their results. */
  retainOpen(open: ReadonlySet<string>): void {
    for (const call of this.#open.keys()) if (!open.has(call)) this.#open.delete(call);
  }

  /** Whether a call from that time or before, in milliseconds since 1970, has no result. */
  isOpenSince(time: number): boolean {
    return [...this.#open.values()].some((called) => called <= time);
  }

  /** Whether a call is among the latest. */
  has(toolCallId: string | undefined): boolean {
    return toolCallId !== undefined && this.#calls.has(toolCallId);
  }

  get(toolCallId: string | undefined): ToolCallRecord | undefined {
    if (toolCallId === undefined) return undefined;
    const call = this.#calls.get(toolCallId);
    if (call === undefined) this.#horizon.missed();
    return call;
  }
}
