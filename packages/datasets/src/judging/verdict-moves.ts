import type { CapturedEvent } from '@hansard/events';
import { type JudgeVerdictData, judgeVerdictData } from './verdict.ts';

/** What one judge said of one player on one question before and after it had seen the reasoning. */
export interface VerdictMove {
  readonly judge: string;
  readonly player: string;
  readonly question: string;
  /** Null: no verdict in that pass. */
  readonly external: JudgeVerdictData | null;
  readonly internal: JudgeVerdictData | null;
  readonly moved: boolean;
}

/** How verdicts move between the passes. Of several verdicts on the same, the last counts. */
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

/** How often each label of the external pass became which label of the internal pass. */
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
