import type { Fidelity, JsonObject } from '@hansard/events';
import { ToolCalls } from '../tools/tool-calls.ts';
import { EventIds } from '../values/ids.ts';
import type { Answer, AnswerLinks } from './answer-links.ts';
import { Inferences } from './inferences.ts';
import { RunTotals } from './run-totals.ts';
import { SubAgents } from './sub-agents.ts';

/** The message that is streaming at the moment, of one agent. */
export interface StreamingMessage {
  readonly messageId: string | undefined;
  /** Ids of tool calls by the index of their block. */
  readonly toolCallIds: Map<number, string>;
}

/** What a mapping remembers from one message to the next. */
export class MappingState {
  readonly fidelity: Fidelity;
  readonly ids = new EventIds();
  readonly agents = new SubAgents();
  readonly calls = new ToolCalls();
  readonly inferences = new Inferences();
  readonly totals = new RunTotals();
  /** By agent; undefined: the dispatched agent. */
  readonly streaming = new Map<string | undefined, StreamingMessage>();
  /** Ids of the tool calls whose denial is recorded. */
  readonly denied = new Set<string>();
  /** What somebody else knows of results before the stream tells of them, by call. */
  readonly outcomes = new Map<string, AnswerLinks & { readonly metadata: JsonObject }>();
  /** The answers of sub-agents, by agent. */
  readonly answers = new Map<string, Answer>();
  /** The latest `system/init` of each session. */
  readonly sessions = new Map<string, JsonObject>();
  /** The session that the latest message named. */
  sessionId: string | undefined;

  constructor(fidelity: Fidelity) {
    this.fidelity = fidelity;
  }
}
