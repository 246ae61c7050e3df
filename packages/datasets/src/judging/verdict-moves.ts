import type { CapturedEvent } from '@hansard/events';
import { type JudgeVerdictData, judgeVerdictData } from './verdict.ts';

/** The verdicts of one judge on one player and question, before and after the judge had seen the reasoning. */
export interface VerdictMove {
  readonly judge: string;
  readonly player: string;
  readonly question: string;
  /** Null if there is no verdict in that pass. */
  readonly external: JudgeVerdictData | null;
  readonly internal: JudgeVerdictData | null;
  readonly moved: boolean;
}

/** The changes of verdicts between the passes. Of several verdicts on the same question, the last counts. */
export function verdictMoves(events: readonly CapturedEvent[]): VerdictMove[] {
  const moves = new Map<string, Omit<VerdictMove, 'moved'>>();
  for (const event of events) {
    if (event.type !== 'judge:verdict') continue;
    const read = judgeVerdictData.safeParse(event.data);
    if (!read.success) continue;
    const { judge, player, question, pass } = read.data;
    const key = JSON.stringify([judge, player, question]);
    const move = moves.get(key) ?? { judge, player, question, external: null, internal: null };
    moves.set(key, { ...move, [pass]: read.data });
  }
  return [...moves.values()].map((move) => ({
    ...move,
    moved: move.external !== null && move.internal !== null && move.external.label !== move.internal.label,
  }));
}

/** The number of changes from each label of the external pass to each label of the internal pass. */
export function countMoves(moves: readonly VerdictMove[]): { from: string; to: string; count: number }[] {
  const counts = new Map<string, { from: string; to: string; count: number }>();
  for (const { external, internal } of moves) {
    if (external === null || internal === null) continue;
    const key = JSON.stringify([external.label, internal.label]);
    const row = counts.get(key) ?? { from: external.label, to: internal.label, count: 0 };
    row.count += 1;
    counts.set(key, row);
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
}
