import { z } from 'zod';
import { judgePasses } from './judge-pass.ts';

/** One line of a judge's answer. */
export const verdictSchema = z.strictObject({
  /** The judge: a person or a model. */
  judge: z.string().min(1),
  pass: z.enum(judgePasses),
  /** The pseudonym of the judged player. */
  target: z.string().min(1),
  question: z.string().min(1),
  label: z.string().min(1),
  score: z.number().optional(),
  explanation: z.string().optional(),
  /** The lines of the packet that support it, by `n` or `ref`. */
  citations: z.array(z.union([z.number().int().positive(), z.string().min(1)])).default([]),
  /** The hash from the manifest of the packet. */
  packet_sha256: z.string().min(1),
});

export type Verdict = z.infer<typeof verdictSchema>;

/** A verdict in the log: `judge:verdict`, in the judged dispatch, with the cited events as its cause. */
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
