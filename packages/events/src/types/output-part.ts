import { z } from 'zod';
import { jsonValueSchema } from '../json/json-value-schema.ts';
import { mediaPartSchema } from './content-part.ts';

/**
 * One part of an agent's observation. `value` holds values that JSON cannot, encoded by the devalue library; `repr` is the
 * printed form of a value that cannot be encoded.
 */
export const outputPartSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('json'), json: jsonValueSchema }),
  mediaPartSchema,
  z.object({ kind: z.literal('value'), encoding: z.literal('devalue'), encoded: z.string() }),
  z.object({ kind: z.literal('repr'), repr: z.string() }),
]);

export type OutputPart = z.infer<typeof outputPartSchema>;
