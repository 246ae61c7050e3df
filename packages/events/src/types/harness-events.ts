import { z } from 'zod';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { countSchema, idSchema, millisecondsSchema } from './fields.ts';

const calledTool = z.object({ tool: z.string(), target: z.string().optional() });

const loop = calledTool.extend({
  /** How often the same call, or the same `calls` in a row, occur in the latest `window` calls of the agent. */
  count: countSchema,
  /** The count at which the harness acts. */
  limit: countSchema,
  window: countSchema,
  /** Two to four calls that were repeated in this order. Absent: one call was repeated. */
  calls: z.array(calledTool).optional(),
  /** The latest results of the repeated calls, which are equal to those before: the ids of their events. */
  results: z.array(idSchema).optional(),
});

/** Interventions of the harness (D2), and decisions of its hooks. */
export const harnessEventData = {
  'harness:loop_warning': loop,
  'harness:loop_kill': loop,
  'harness:stall': z.object({ idleMs: millisecondsSchema, limitMs: millisecondsSchema }),
  'harness:timeout': z.object({ elapsedMs: millisecondsSchema, limitMs: millisecondsSchema }),
  'harness:abort': z.object({ reason: z.string().optional(), by: z.string().optional() }),
  'harness:error': z.object({
    message: z.string(),
    code: z.string().optional(),
    stack: z.string().optional(),
    /** The hook that failed. */
    hook: z.string().optional(),
  }),
  'harness:hook_decision': z.object({
    hook: z.string(),
    /** The subject of the decision: `tool_call`, `tool_result`, `delivery` … */
    on: z.string(),
    decision: z.enum(['allow', 'deny', 'alter']),
    reason: z.string().optional(),
    toolCallId: z.string().optional(),
    /** The event that was decided on: the tool call, or the content of the delivery. */
    subject: idSchema.optional(),
    /** The decision before this one on the same call or delivery. This one was given what that one made. */
    previous: idSchema.optional(),
    /** The text that was decided on, if no event or decision has it: a tool result, or a delivery in other words than its subject. */
    given: z.string().optional(),
    /** The utterances from which a tool result was made. */
    madeFrom: z.array(idSchema).optional(),
    /** The new input of an altered tool call. */
    input: jsonValueSchema.optional(),
    /** The new text of an altered delivery or tool result. */
    text: z.string().optional(),
  }),
} as const;

/** Observations of the system, as they were captured. */
export const systemEventData = {
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
