import * as z from 'zod/mini';
import { jsonObjectSchema } from '../json/json-value-schema.ts';
import { envelopeSchema, taskRecordSchema } from './envelope.ts';
import { eventDataSchemas, eventFields } from './event.ts';

type JsonSchema = Record<string, unknown>;

/** JSON Schema (draft 2020-12) of one event: a known type with its data, or any other `category:action`. */
export function eventJsonSchema(): JsonSchema {
  const known = Object.entries(eventDataSchemas).map(([type, data]) =>
    withoutDialect(z.object({ ...eventFields, type: z.literal(type), data })),
  );
  const other = withoutDialect(z.object({ ...eventFields, data: jsonObjectSchema }));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Hansard event',
    not: { required: ['substance', 'cause'] },
    if: { properties: { type: { enum: Object.keys(eventDataSchemas) } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { oneOf: known },
    else: other,
  };
}

/**
 * The JSON Schemas of an event, of the data of each known type, of an envelope and of a task record, as plain data.
 */
export function describeShapes(): Readonly<Record<'event' | 'envelope' | 'task', JsonSchema>> & {
  readonly data: Readonly<Record<string, JsonSchema>>;
} {
  const data = Object.entries(eventDataSchemas).map(([type, schema]) => [type, withoutDialect(schema)]);
  return {
    event: withoutDialect(z.object(eventFields)),
    envelope: withoutDialect(envelopeSchema),
    task: withoutDialect(taskRecordSchema),
    data: Object.fromEntries(data),
  };
}

/** JSON Schema of an envelope. */
export function envelopeJsonSchema(): JsonSchema {
  return { ...toJsonSchema(envelopeSchema), title: 'Hansard dispatch envelope' };
}

/** JSON Schema of a task record. */
export function taskJsonSchema(): JsonSchema {
  return { ...toJsonSchema(taskRecordSchema), title: 'Hansard task record' };
}

function withoutDialect(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema);
  return rest;
}

function toJsonSchema(schema: z.core.$ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === (jsonObjectSchema as unknown)) jsonSchema.type = 'object';
    },
  }) as JsonSchema;
}
