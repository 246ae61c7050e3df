import { z } from 'zod';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { countSchema } from './fields.ts';

/** The digest of bytes, and the id of the `content:stored` event that holds them. */
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'not a SHA-256 in lower-case hexadecimal');

/**
 * An image, a document or a sound of a message, a result or an observation. Its bytes are in the `content:stored` event whose id is
 * `sha256`, which precedes the event with the part.
 */
const mediaPartSchema = z.object({
  kind: z.enum(['image', 'document', 'audio']),
  /** For example `image/png`. Absent: not stated. */
  mediaType: z.string().optional(),
  /** Absent: the log has no bytes, because the source only names them. */
  sha256: sha256Schema.optional(),
  /** In bytes. */
  size: countSchema.optional(),
  /** `false`: the bytes were above the limit, so the log has their digest only. */
  isKept: z.boolean().optional(),
  /** The name of the file, or the title of the document. */
  name: z.string().optional(),
  /** Where the bytes are, if the source refers to them. Nothing fetches it. */
  url: z.string().optional(),
  /** The bytes as a writer gives them. The store facade moves them to a `content:stored` event, so no recorded part has them. */
  base64: z.string().optional(),
  /** Further fields of the source. */
  details: jsonObjectSchema.optional(),
});

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

/** A text that is attached to a message, such as a text file. */
const textPartSchema = z.object({
  kind: z.literal('text'),
  text: z.string(),
  mediaType: z.string().optional(),
  name: z.string().optional(),
  details: jsonObjectSchema.optional(),
});

export const contentPartSchema = z.discriminatedUnion('kind', [textPartSchema, mediaPartSchema]);

export type MediaPart = z.infer<typeof mediaPartSchema>;
export type ContentPart = z.infer<typeof contentPartSchema>;

/** Bytes that messages, results and observations of the log refer to. */
export const contentEventData = {
  'content:stored': z.object({
    sha256: sha256Schema,
    /** In bytes. */
    size: countSchema,
    /** Empty although `size` is not 0: removed by a user. Absent: left out by narrative fidelity, or not asked for by the reader. */
    base64: z
      .string()
      .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'not Base64')
      .optional(),
  }),
} as const;

export type OutputPart = z.infer<typeof outputPartSchema>;
