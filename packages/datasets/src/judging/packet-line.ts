import { z } from 'zod';
import { judgePasses } from './judge-pass.ts';

/** One line of a packet: all that a judge sees of one thing that happened. */
export const packetLineSchema = z.strictObject({
  /** From 1, without gaps. What a verdict cites. */
  n: z.number().int().positive(),
  turn: z.string(),
  /** A pseudonym. */
  speaker: z.string(),
  kind: z.enum(['chat', 'action', 'reasoning']),
  text: z.string(),
  /** A hash that names the event to whoever has the log, and nothing to others. */
  ref: z.string(),
});

export type PacketLine = z.infer<typeof packetLineSchema>;

/** What is in a packet and what is not, for whoever is handed it. */
export const packetManifestSchema = z.strictObject({
  pass: z.enum(judgePasses),
  kinds: z.array(z.string()),
  /** Everything else that the log holds. */
  excluded: z.array(z.string()),
  lines: z.number().int(),
  /** How many times a name was replaced within a text. */
  redactions: z.number().int(),
  /** How many actions stand without what they were done with, as the mapping does not say what of it is public. */
  bare_actions: z.number().int(),
  players: z.array(z.string()),
  pseudonyms_sha256: z.string(),
  sha256: z.string(),
  format: z.literal('hansard-judge-packet/1'),
});

export type PacketManifest = z.infer<typeof packetManifestSchema>;
