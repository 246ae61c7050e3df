import type { GameStream } from '../game-streams/stream-lines.ts';

/**
 * The material that a judge receives (G4). `external`: speech and actions. `internal`: the same and the reasoning.
 */
export const judgePasses = ['external', 'internal'] as const;

export type JudgePass = (typeof judgePasses)[number];

/** The kinds of lines in a packet, and their streams. */
export type PacketKind = 'chat' | 'action' | 'reasoning';

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
