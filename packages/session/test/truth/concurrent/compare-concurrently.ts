import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AnsweringProcess } from './persons.ts';
import { playConcurrently } from './play-concurrently.ts';
import type { Happened } from './played.ts';
import { openTruthStore, type TruthStore } from './truth-store.ts';
import { type ConcurrentCounts, wrongIn } from './wrong-in.ts';

/** What was compared and happened in the sessions of some seeds. */
export interface ConcurrentlyCompared {
  readonly counts: ConcurrentCounts;
  readonly happened: Happened;
  readonly wrong: string[];
  events: number;
}

/** Plays the sessions of seeds in a store each, with another process that answers if the store is on disk. `onSeed` is called after each. */
export async function compareConcurrently(
  kind: TruthStore,
  seeds: Iterable<number>,
  onSeed: (seed: number, compared: ConcurrentlyCompared) => void = () => {},
): Promise<ConcurrentlyCompared> {
  const compared: ConcurrentlyCompared = {
    counts: {
      ...{
        prompts: 0,
        transcripts: 0,
        cells: 0,
        negatives: 0,
        repeats: 0,
        answers: 0,
        approvals: 0,
        forks: 0,
      },
    },
    happened: {
      ...{ loads: 0, kills: 0, evictions: 0, closed: 0, duringCalls: 0, stops: 0, rewinds: 0 },
      ...{ letters: 0, denials: 0, rejections: 0, spent: 0, answers: 0, posted: 0 },
    },
    wrong: [],
    events: 0,
  };
  const elsewhere = kind === 'memory' ? null : new AnsweringProcess(kind);
  try {
    for (const seed of seeds) {
      const root = mkdtempSync(join(tmpdir(), 'hansard-concurrent-'));
      try {
        const options = {
          canKill: kind === 'memory',
          ...(elsewhere === null ? {} : { answerElsewhere: elsewhere.answerIn.bind(elsewhere, root) }),
        };
        const played = await playConcurrently(seed, openTruthStore(kind, root), options);
        compared.wrong.push(...wrongIn(played, compared.counts).map((words) => `seed ${seed}: ${words}`));
        compared.events += played.events.length;
        for (const key of Object.keys(played.happened) as (keyof Happened)[])
          compared.happened[key] += played.happened[key];
        onSeed(seed, compared);
      } finally {
        rmSync(root, { recursive: true });
      }
    }
  } finally {
    elsewhere?.end();
  }
  return compared;
}
