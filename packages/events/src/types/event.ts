import * as z from 'zod/mini';
import type { JsonObject } from '../json/json.ts';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { agentEventData, requestEventData, userEventData } from './agent-events.ts';
import { contentEventData } from './content-part.ts';
import {
  costSchema,
  countSchema,
  forkSchema,
  idSchema,
  millisecondsSchema,
  recordedTimeSchema,
  statedModelUsageSchema,
  timestampSchema,
  usageSchema,
} from './fields.ts';

/** The boundaries of a dispatch and of the session that runs in it (D2, D3). */
const sessionEventData = {
  'session:init': z.object({
    model: z.string(),
    sessionId: z.string(),
    cwd: z.optional(z.string()),
    tools: z.optional(z.array(z.string())),
  }),
  /** Cost, usage, models, turns and duration are totals of the dispatch so far, so the last one of a dispatch is authoritative. */
  'session:complete': z.object({
    status: z.enum(['completed', 'aborted', 'failed']),
    /** The reason for the end in the source's own term, such as `error_max_turns`. */
    reason: z.optional(z.string()),
    result: z.optional(z.string()),
    structuredResult: z.optional(jsonValueSchema),
    costUsd: z.optional(costSchema),
    usage: z.optional(usageSchema),
    /** The parts of `usage` and `costUsd` by model. It names every model that the dispatch has used. */
    models: z.optional(z.array(statedModelUsageSchema)),
    durationMs: z.optional(millisecondsSchema),
    turns: z.optional(countSchema),
    errors: z.optional(z.array(z.string())),
  }),
  'session:compaction': z.object({
    trigger: z.string(),
    preTokens: z.optional(countSchema),
    postTokens: z.optional(countSchema),
    summary: z.optional(z.string()),
    /** The first event that the model still sees unchanged. The ones before it stay in the log. */
    keptFrom: z.optional(idSchema),
  }),
  /** The agent goes back: its current branch ends with another entry now. What the rewind leaves stays in the log. */
  'session:rewind': z.object({
    /** The last event that stays on the current branch. Null: none, so the transcript is empty. */
    keptThrough: z.nullable(idSchema),
    /** The last entry of the branch that it leaves. Absent: the branch that was current. */
    left: z.optional(idSchema),
  }),
  /** This session repeats the head of another one, or refers to it with `through`. The other session did not create it. */
  'session:fork': forkSchema,
  'session:rate_limit': jsonObjectSchema,
  'session:status': jsonObjectSchema,
} as const;

const calledTool = z.object({ tool: z.string(), target: z.optional(z.string()) });

const loop = z.extend(calledTool, {
  /** How often the same call, or the same `calls` in a row, occur in the latest `window` calls of the agent. */
  count: countSchema,
  /** The count at which the harness acts. */
  limit: countSchema,
  window: countSchema,
  /** Two to four calls that were repeated in this order. Absent: one call was repeated. */
  calls: z.optional(z.array(calledTool)),
  /** The latest results of the repeated calls, which are equal to those before: the ids of their events. */
  results: z.optional(z.array(idSchema)),
});

/** Interventions of the harness (D2), and decisions of its hooks. */
const harnessEventData = {
  'harness:loop_warning': loop,
  'harness:loop_kill': loop,
  'harness:stall': z.object({ idleMs: millisecondsSchema, limitMs: millisecondsSchema }),
  'harness:timeout': z.object({ elapsedMs: millisecondsSchema, limitMs: millisecondsSchema }),
  'harness:abort': z.object({ reason: z.optional(z.string()), by: z.optional(z.string()) }),
  'harness:error': z.object({
    message: z.string(),
    code: z.optional(z.string()),
    stack: z.optional(z.string()),
    /** The hook that failed. */
    hook: z.optional(z.string()),
    /** Whether surfaces that people watch leave out the message, which can quote an answer that nobody may have heard. Absent: false. */
    withheld: z.optional(z.boolean()),
  }),
  'harness:hook_decision': z.object({
    hook: z.string(),
    /** The subject of the decision: `tool_call`, `tool_result`, `delivery`, `utterance`, `input` … */
    on: z.string(),
    decision: z.enum(['allow', 'deny', 'alter', 'retry']),
    reason: z.optional(z.string()),
    toolCallId: z.optional(z.string()),
    /** The event that was decided on: the tool call, or the content of the delivery. */
    subject: z.optional(idSchema),
    /** The decision before this one on the same call or delivery. This one was given what that one made. */
    previous: z.optional(idSchema),
    /** The text that was decided on, if no event or decision has it: a tool result, an input, an altered answer, or a delivery in other words than its subject. */
    given: z.optional(z.string()),
    /** The utterances from which a tool result was made. */
    madeFrom: z.optional(z.array(idSchema)),
    /** The new input of an altered tool call. */
    input: z.optional(jsonValueSchema),
    /** The new text of an altered delivery, tool result, answer or input. */
    text: z.optional(z.string()),
  }),
  /** A call waits for a person: it is not made before an answer. A question is a call whose result is the answer. */
  'harness:approval_requested': z.object({
    toolCallId: z.string(),
    tool: z.string(),
    kind: z.enum(['approval', 'question']),
    /** Who asks: a hook, or the tool. */
    by: z.string(),
    /** Why, or the question. */
    reason: z.optional(z.string()),
    choices: z.optional(z.array(z.string())),
    /** After this time the default answer counts: `default`, otherwise a refusal. */
    deadline: z.optional(timestampSchema),
    /** Of an approval `approve` or `refuse`; of a question the answer. */
    default: z.optional(z.string()),
    /** The input that is asked about, if hooks altered the input of the call. */
    input: z.optional(jsonValueSchema),
  }),
  /** The answer to a call that waits. The first one in the log counts. */
  'harness:approval_given': z.object({
    toolCallId: z.string(),
    decision: z.enum(['approve', 'refuse']),
    /** Of a question. */
    answer: z.optional(z.string()),
    /** Who answered, such as `user`, or `deadline`. */
    by: z.string(),
    note: z.optional(z.string()),
    /** The input with which the call is made, in place of the one that was asked about. */
    input: z.optional(jsonValueSchema),
    /** `session`: it also holds for later calls of this tool with the input that was asked about. */
    scope: z.enum(['call', 'session']),
    /** The earlier answer for the whole session that this one repeats. */
    earlier: z.optional(idSchema),
  }),
  /** The answer of the agent was stopped, and its session continues. What its model had said by then is the `agent:text` of the message. */
  'harness:answer_stopped': z.object({
    /** Who stopped it, such as `user`, `program` or `time limit`. */
    by: z.string(),
    reason: z.optional(z.string()),
    /** The message that was being said. Absent: none was, or nothing of it had arrived. */
    messageId: z.optional(idSchema),
    /** The last event that its model had been given. Null: none. */
    through: z.optional(z.nullable(idSchema)),
  }),
  /** A budget of the session or the agent is nearly spent, or is spent: then the call that the agent wanted was not made. */
  'harness:budget_reached': z.object({
    scope: z.enum(['session', 'agent']),
    /** `costUsd`: US dollars. `tokens`, `calls` and `timeMs`: of model calls, the time with that of tools. `agents`, `depth`: of agents that tool calls create. */
    what: z.enum(['costUsd', 'tokens', 'calls', 'timeMs', 'agents', 'depth']),
    limit: z.number(),
    spent: z.number(),
    isSpent: z.boolean(),
  }),
  /** An attempt of a model call failed, and another one follows. What it cost is the `agent:inference` before it, if that is known. */
  'harness:model_retried': z.object({
    message: z.string(),
    code: z.optional(z.string()),
    stack: z.optional(z.string()),
    /** The number of the attempt, from 1. */
    attempt: countSchema,
    /** The model of the attempt, and that of the next one. Absent: the default of the provider. */
    model: z.optional(z.string()),
    next: z.optional(z.string()),
    delayMs: millisecondsSchema,
  }),
  /** The tool of a call that was approved is entered next. A call is never entered twice. */
  'harness:call_started': z.object({ toolCallId: z.string() }),
  /** Hooks are asked next about an answer, which nobody has received. Their decision is the `agent:text` or the `agent:rejected` of the message. */
  'harness:answer_held': z.object({
    messageId: idSchema,
    text: z.string(),
    thinking: z.optional(z.string()),
    /** The data of its `agent:inference`, without `replay`. */
    call: z.optional(jsonValueSchema),
  }),
} as const;

/** Observations of the system, as they were captured. */
const systemEventData = {
  'system:files_persisted': jsonObjectSchema,
  'system:hook_started': jsonObjectSchema,
  'system:hook_progress': jsonObjectSchema,
  'system:hook_response': jsonObjectSchema,
  'system:task_started': jsonObjectSchema,
  'system:task_progress': jsonObjectSchema,
  'system:task_updated': jsonObjectSchema,
  'system:task_notification': jsonObjectSchema,
  'system:notice': jsonObjectSchema,
} as const;

/** The data of every event type that Hansard knows. An event of any other type holds any JSON object. */
export const eventDataSchemas = {
  ...agentEventData,
  ...userEventData,
  ...contentEventData,
  ...requestEventData,
  ...sessionEventData,
  ...harnessEventData,
  ...systemEventData,
} as const;

/** `category:action` in lower snake case. The category `delta` is reserved for pieces that must never be recorded (D8). */
const eventTypePattern = /^(?!delta:)[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/;

const eventTypeSchema = z
  .string()
  .check(z.regex(eventTypePattern, 'not a category:action in lower snake case'));

/** Whether a value is a type that an event may have, known or not. */
export function isEventType(value: unknown): value is EventType {
  return (
    typeof value === 'string' && (Object.hasOwn(eventDataSchemas, value) || eventTypePattern.test(value))
  );
}

/** The fields of every event other than type and data. The order of the keys is the order on the line. */
export const eventFields = {
  id: idSchema,
  type: eventTypeSchema,
  v: z.optional(z.number().check(z.int(), z.positive())),
  timestamp: recordedTimeSchema,
  agentId: z.optional(idSchema),
  messageId: z.optional(idSchema),
  substance: z.optional(idSchema),
  cause: z.optional(z.union([idSchema, z.array(idSchema).check(z.minLength(1))])),
  via: z.optional(idSchema),
  follows: z.optional(idSchema),
  retracts: z.optional(z.array(idSchema).check(z.minLength(1))),
} as const;

export const eventFieldsSchema = z.object(eventFields);

export type EventType = `${string}:${string}`;
export type KnownEventType = keyof typeof eventDataSchemas;
export type EventData<T extends KnownEventType> = z.infer<(typeof eventDataSchemas)[T]>;

/** The fields of an event other than id, type, timestamp and data. */
export interface EventLinks {
  /** The agent whose transcript or activity this is; absent for the dispatched agent itself. */
  readonly agentId?: string;
  /** Groups the blocks of one model message. */
  readonly messageId?: string;
  /** The event whose content this one carries. Never together with `cause`. */
  readonly substance?: string;
  /** The event or events that caused this new content. Never together with `substance`. */
  readonly cause?: string | readonly string[];
  /**
   * What a delivery passed through: the hook decision that altered or stopped it. In an import also any event that the log
   * names as its cause beside its substance, such as the answer of a translator.
   */
  readonly via?: string;
  /**
   * The entry of the agent's transcript that this one comes after. Absent: the last entry of the agent's current branch. Writers
   * set it on the first entry after a rewind, a load or a loss, and on a late record of a branch that is not the current one.
   */
  readonly follows?: string;
  /** Events of the agent that its engine took back: no later prompt has them. */
  readonly retracts?: readonly string[];
  /** Schema version of the type; 1 if absent. */
  readonly v?: number;
}

/** One thing that happened in a dispatch. Appended once, never changed. */
export interface CapturedEvent extends EventLinks {
  readonly id: string;
  readonly type: EventType;
  /** Null: the source does not record it. No view then gives the event a time, such as the time of another event or of the import. */
  readonly timestamp: string | null;
  readonly data: JsonObject;
}

export interface EventOf<T extends KnownEventType> extends CapturedEvent {
  readonly type: T;
  readonly data: EventData<T>;
}

/** An event before it is recorded. An absent id and timestamp are added; a timestamp that is null stays null. */
export type NewEvent = Omit<CapturedEvent, 'id' | 'timestamp'> & {
  readonly id?: string;
  readonly timestamp?: string | null;
};

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
