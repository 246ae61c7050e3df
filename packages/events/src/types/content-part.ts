import * as z from 'zod/mini';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { countSchema } from './fields.ts';

/** The digest of bytes, and the id of the `content:stored` event that holds them. */
const sha256Schema = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'not a SHA-256 in lower-case hexadecimal'));

/**
 * An image, a document or a sound of a message, a result or an observation. Its bytes are in the `content:stored` event whose id is
 * `sha256`, which precedes the event with the part.
 */
const mediaPartSchema = z.object({
  kind: z.enum(['image', 'document', 'audio']),
  /** For example `image/png`. Absent: not stated. */
  mediaType: z.optional(z.string()),
  /** Absent: the log has no bytes, because the source only names them. */
  sha256: z.optional(sha256Schema),
  /** In bytes. */
  size: z.optional(countSchema),
  /** `false`: the bytes were above the limit, so the log has their digest only. */
  isKept: z.optional(z.boolean()),
  /** The name of the file, or the title of the document. */
  name: z.optional(z.string()),
  /** Where the bytes are, if the source refers to them. Nothing fetches it. */
  url: z.optional(z.string()),
  /** The bytes as a writer gives them. The store facade moves them to a `content:stored` event, so no recorded part has them. */
  base64: z.optional(z.string()),
  /** Further fields of the source. */
  details: z.optional(jsonObjectSchema),
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
  mediaType: z.optional(z.string()),
  name: z.optional(z.string()),
  details: z.optional(jsonObjectSchema),
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
    base64: z.optional(z.string().check(z.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'not Base64'))),
  }),
} as const;

export type OutputPart = z.infer<typeof outputPartSchema>;
