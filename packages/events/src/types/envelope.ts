import { z } from 'zod';
import { jsonValueSchema } from '../json/json-value-schema.ts';
import {
  costSchema,
  idSchema,
  modelUsageSchema,
  priceSourceSchema,
  timestampSchema,
  usageSchema,
} from './fields.ts';

export const dispatchStatuses = ['running', 'completed', 'aborted', 'crashed'] as const;
export const fidelities = ['narrative', 'full'] as const;

/** The newest shape of envelope that this version writes. */
export const envelopeSchemaVersion = 1;

/** The facts about a dispatch: role, time, model, cost and end (D3). Every key is present; null: not known (yet). */
export const envelopeSchema = z.object({
  dispatchId: idSchema,
  taskSlug: z.string().min(1),
  role: z.string().min(1),
  /** What people call it; null: nobody named it. */
  title: z.string().min(1).nullable(),
  model: z.string().nullable(),
  cwd: z.string().nullable(),
  startedAt: timestampSchema,
  completedAt: timestampSchema.nullable(),
  /** `aborted`: somebody or some limit ended it. `crashed`: it failed, or its process died. */
  status: z.enum(dispatchStatuses),
  /** US dollars as the log states them, without child dispatches. Null: nothing states a cost. */
  cost: costSchema.nullable(),
  usage: usageSchema.nullable(),
  /** What the recorded model calls used, by model in the order of their first calls. Null: no call is recorded. */
  models: z.array(modelUsageSchema).nullable(),
  /** The table that was asked for the prices of calls without a stated cost. Null: none. */
  prices: priceSourceSchema.nullable(),
  /** Cached from the last `session:complete`, which is the truth. */
  structuredResult: jsonValueSchema.nullable(),
  /** The dispatch that started this one (D4). */
  parentDispatchId: idSchema.nullable(),
  /** Kept for lasting identities of bots (D9). */
  botId: z.string().nullable(),
  /** `narrative`: tool input and output are left out (D7). `full`: they are recorded, so that a session can be resumed. */
  fidelity: z.enum(fidelities),
  schemaVersion: z.number().int().positive(),
});

export type DispatchEnvelope = Readonly<z.infer<typeof envelopeSchema>>;
export type DispatchStatus = (typeof dispatchStatuses)[number];
export type Fidelity = (typeof fidelities)[number];

/** What may change in an envelope once its dispatch exists: all but its identity. */
export type EnvelopeUpdates = Partial<Omit<DispatchEnvelope, 'dispatchId' | 'taskSlug' | 'schemaVersion'>>;

/** A piece of work that somebody asked for (D10). */
export const taskRecordSchema = z.object({
  slug: z.string().min(1),
  name: z.string().min(1),
  project: z.string().min(1),
  status: z.string().min(1),
  created: timestampSchema,
});

export type TaskRecord = Readonly<z.infer<typeof taskRecordSchema>>;
