import { z } from 'zod';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import {
  costSchema,
  countSchema,
  forkSchema,
  idSchema,
  millisecondsSchema,
  statedModelUsageSchema,
  usageSchema,
} from './fields.ts';

/** The boundaries of a dispatch and of the session that runs in it (D2, D3). */
export const sessionEventData = {
  'session:init': z.object({
    model: z.string(),
    sessionId: z.string(),
    cwd: z.string().optional(),
    tools: z.array(z.string()).optional(),
  }),
  /** Cost, usage, models, turns and duration are totals of the dispatch so far, so the last one of a dispatch is authoritative. */
  'session:complete': z.object({
    status: z.enum(['completed', 'aborted', 'failed']),
    /** The reason for the end in the source's own term, such as `error_max_turns`. */
    reason: z.string().optional(),
    result: z.string().optional(),
    structuredResult: jsonValueSchema.optional(),
    costUsd: costSchema.optional(),
    usage: usageSchema.optional(),
    /** The parts of `usage` and `costUsd` by model. It names every model that the dispatch has used. */
    models: z.array(statedModelUsageSchema).optional(),
    durationMs: millisecondsSchema.optional(),
    turns: countSchema.optional(),
    errors: z.array(z.string()).optional(),
  }),
  'session:compaction': z.object({
    trigger: z.string(),
    preTokens: countSchema.optional(),
    postTokens: countSchema.optional(),
    summary: z.string().optional(),
    /** The first event that the model still sees unchanged. The ones before it stay in the log. */
    keptFrom: idSchema.optional(),
  }),
  /** The agent goes back: its current branch ends with another entry now. What the rewind leaves stays in the log. */
  'session:rewind': z.object({
    /** The last event that stays on the current branch. Null: none, so the transcript is empty. */
    keptThrough: idSchema.nullable(),
    /** The last entry of the branch that it leaves. Absent: the branch that was current. */
    left: idSchema.optional(),
  }),
  /** This session repeats the head of another one, or refers to it with `through`. The other session did not create it. */
  'session:fork': forkSchema,
  'session:rate_limit': jsonObjectSchema,
  'session:status': jsonObjectSchema,
} as const;
