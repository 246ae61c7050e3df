import { z } from 'zod';
import { judgePasses } from './judge-pass.ts';

/** One line of what a judge gives back. */
export const verdictSchema = z.strictObject({
  /** Who judged: a person or a model. */
  judge: z.string().min(1),
  pass: z.enum(judgePasses),
  /** The pseudonym of the player that it is about. */
  target: z.string().min(1),
  question: z.string().min(1),
  label: z.string().min(1),
  score: z.number().optional(),
  explanation: z.string().optional(),
  /** The lines of the packet that it rests on, by `n` or `ref`. */
  citations: z.array(z.union([z.number().int().positive(), z.string().min(1)])).default([]),
  /** That of the packet's manifest. */
  packet_sha256: z.string().min(1),
});

export type Verdict = z.infer<typeof verdictSchema>;

/** A verdict in the log: `judge:verdict`, in the dispatch that was judged, with the events that it rests on as its cause. */
export const judgeVerdictData = z.object({
  judge: z.string().min(1),
  pass: z.enum(judgePasses),
  /** The name of the player. */
  player: z.string(),
  question: z.string(),
  label: z.string(),
  score: z.number().optional(),
  explanation: z.string().optional(),
  packetSha256: z.string(),
});

export type JudgeVerdictData = z.infer<typeof judgeVerdictData>;
