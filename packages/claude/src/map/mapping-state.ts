import type { EventData, Fidelity, FileChange, JsonObject } from '@hansard/events';
import { asList, asObject, asText } from '../lines/json-fields.ts';
import { Horizon, RecentMap } from './horizon.ts';
import { EventIds } from './ids.ts';
import { Inferences } from './inferences.ts';
import { RunTotals } from './run-totals.ts';
import { SubAgents } from './sub-agents.ts';

/** Links from a result to the utterance that it carries, or to those that it was made from. */
export interface AnswerLinks {
  readonly substance?: string;
  readonly cause?: string[];
}

/** The last text of a sub-agent that was not followed by a tool call: its answer, if it ended there. */
interface Answer {
  readonly id: string;
  readonly text: string;
}

/** What a tool of the project said of its call, which the stream does not have. */
interface NotedOutcome {
  readonly metadata: JsonObject;
  readonly reported: { readonly changes?: FileChange[] };
  readonly links: AnswerLinks;
}

/** Links a result to the utterances that it was made from (see `ToolOutcome` of `@hansard/provider`). */
export function linksToUtterances(ids: readonly string[]): AnswerLinks {
  const [first] = ids;
  if (first === undefined) return {};
  return ids.length === 1 ? { substance: first } : { cause: [...ids] };
}

/**
 * Links the result of a call to the answer of the sub-agent that it started: as its substance if the result holds the
 * answer word for word, otherwise as its cause.
 */
export function linksToAnswer(
  answer: Answer | undefined,
  output: JsonObject | undefined,
  text: string,
): AnswerLinks {
  if (answer === undefined) return {};
  const parts = asList(output?.content)?.map((block) => asText(asObject(block)?.text)) ?? [];
  const holdsIt = parts.includes(answer.text) || text.includes(answer.text);
  return holdsIt ? { substance: answer.id } : { cause: [answer.id] };
}

/** The message of one agent that is currently streamed. */
interface StreamingMessage {
  readonly messageId: string | undefined;
  /** Tool call ids by block index. */
  readonly toolCallIds: Map<number, string>;
}

/** The facts of a compaction whose summary is in a later message. */
interface AwaitedSummary {
  readonly trigger: string;
  readonly keptFrom?: string | undefined;
  /** The event of the boundary. */
  readonly cause: string | undefined;
}

/** The state that a mapping keeps between messages. */
export class MappingState {
  readonly fidelity: Fidelity;
  readonly horizon = new Horizon();
  readonly ids = new EventIds();
  readonly agents = new SubAgents(this.horizon);
  readonly calls = new ToolCalls(this.horizon);
  readonly inferences = new Inferences();
  readonly totals = new RunTotals();
  /** By agent id; undefined is the dispatched agent. */
  readonly streaming = new Map<string | undefined, StreamingMessage>();
  /** Ids of the tool calls whose denial is recorded. */
  readonly denied = new Set<string>();
  /** Facts about results that the caller supplied before they arrived in the stream, by tool call. */
  readonly outcomes = new Map<string, NotedOutcome>();
  /** The answers of sub-agents, by agent. */
  readonly answers = new Map<string, Answer>();
  /** The compactions whose boundary names the message that will hold their summary, by the uuid of that message. */
  readonly compactions = new Map<string, AwaitedSummary>();
  /** The latest `system/init` of each session. */
  readonly sessions = new Map<string, JsonObject>();
  /** The session that the latest message named. */
  sessionId: string | undefined;

  constructor(fidelity: Fidelity) {
    this.fidelity = fidelity;
  }
}

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
  /** The message that the call sends to another agent. Null if it sends none. */
  readonly sends: EventData<'agent:message_sent'> | null;
}

const mostRemembered = 5_000;

/** The latest tool calls by id. The oldest are dropped, so that memory is bounded. */
class ToolCalls {
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
