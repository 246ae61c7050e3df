import { z } from 'zod';
import type { GameStream } from '../game-streams/stream-lines.ts';

/**
 * The material that a judge receives (G4). `external`: speech and actions. `internal`: the same and the reasoning.
 */
export const judgePasses = ['external', 'internal'] as const;

export type JudgePass = (typeof judgePasses)[number];

/** The kinds of lines in a packet, and their streams. */
type PacketKind = 'chat' | 'action' | 'reasoning';

const kinds: Readonly<Partial<Record<GameStream, PacketKind>>> = {
  chat: 'chat',
  agent_actions: 'action',
  agent_reasoning: 'reasoning',
};

/** The kind of a stream's line in the packet of a pass; null if the line is left out. */
export function packetKind(stream: GameStream, pass: JudgePass): PacketKind | null {
  const kind = kinds[stream] ?? null;
  return kind === 'reasoning' && pass === 'external' ? null : kind;
}

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

const count = z.number().int().nonnegative();

/** The contents and omissions of a packet, for its reader. Every number is counted from what was read and written. */
export const packetManifestSchema = z.strictObject({
  pass: z.enum(judgePasses),
  /** The events of the log that were read, verdicts of judges left out. */
  events: count,
  lines: count,
  /** The lines of each kind. */
  kinds: z.strictObject({ chat: count, action: count, reasoning: count.optional() }),
  /** What was found in the log and left out. */
  excluded: z.strictObject({
    /** The lines that the packet would have of each stream of the game that is not in it. */
    streams: z.record(z.string(), count),
    /** Actions and thoughts of agents that do not play. */
    not_players: count,
    /** Calls of actions whose input the log does not have, by tool. */
    calls_without_input: z.record(z.string(), count),
    /** Events that are copied from another session. Their lines are in the packets of that session. */
    copied_events: count,
    /** Other events of the log, except verdicts, that no line of the packet names. Their types are left out: a judge could guess from them what is hidden. */
    events_without_line: count,
  }),
  /** The number of names replaced within texts. */
  redactions: count,
  /** The number of actions without their input, because the mapping does not declare any of it as public. */
  bare_actions: count,
  players: z.array(z.string()),
  pseudonyms_sha256: z.string(),
  sha256: z.string(),
  format: z.literal('hansard-judge-packet/1'),
});

export type PacketManifest = z.infer<typeof packetManifestSchema>;
