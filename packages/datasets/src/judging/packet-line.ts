import { z } from 'zod';
import { judgePasses } from './judge-pass.ts';

/** One line of a packet: everything that a judge sees of one event. */
export const packetLineSchema = z.strictObject({
  /** Counted from 1, without gaps. Verdicts cite it. */
  n: z.number().int().positive(),
  turn: z.string(),
  /** A pseudonym. */
  speaker: z.string(),
  kind: z.enum(['chat', 'action', 'reasoning']),
  text: z.string(),
  /** A hash that identifies the event for readers with the log, and reveals nothing to others. */
  ref: z.string(),
});

export type PacketLine = z.infer<typeof packetLineSchema>;

/** The contents and omissions of a packet, for its reader. */
export const packetManifestSchema = z.strictObject({
  pass: z.enum(judgePasses),
  kinds: z.array(z.string()),
  /** The parts of the log that are left out. */
  excluded: z.array(z.string()),
  lines: z.number().int(),
  /** The number of names replaced within texts. */
  redactions: z.number().int(),
  /** The number of actions without their input, because the mapping does not declare any of it as public. */
  bare_actions: z.number().int(),
  players: z.array(z.string()),
  pseudonyms_sha256: z.string(),
  sha256: z.string(),
  format: z.literal('hansard-judge-packet/1'),
});

export type PacketManifest = z.infer<typeof packetManifestSchema>;
