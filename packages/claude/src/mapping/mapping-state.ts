import type { Fidelity, JsonObject } from '@hansard/events';
import { ToolCalls } from '../tools/tool-calls.ts';
import { EventIds } from '../values/ids.ts';
import type { Answer, AnswerLinks } from './answer-links.ts';
import { Horizon } from './horizon.ts';
import { Inferences } from './inferences.ts';
import { RunTotals } from './run-totals.ts';
import { SubAgents } from './sub-agents.ts';

/** The message of one agent that is currently streamed. */
export interface StreamingMessage {
  readonly messageId: string | undefined;
  /** Tool call ids by block index. */
  readonly toolCallIds: Map<number, string>;
}

/** The facts of a compaction whose summary is in a later message. */
export interface AwaitedSummary {
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
  readonly outcomes = new Map<string, AnswerLinks & { readonly metadata: JsonObject }>();
  /** The answers of sub-agents, by agent. */
  readonly answers = new Map<string, Answer>();
  /** The ids of the members of a team that have a file, by name. */
  readonly members = new Map<string, string>();
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
