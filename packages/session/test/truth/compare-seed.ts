import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Comparisons, compare } from './compare-views.ts';
import { openTruthStore, type TruthStore } from './concurrent/truth-store.ts';
import type { PlayedSession } from './played-session.ts';
import { playRandomSession } from './random-session.ts';
import { viewsOf } from './views-under-test.ts';

/** How many things happen in a session before it is long enough. */
const steps = 64;

/** Plays the session of a seed in a new store of that kind, and compares the views with what happened. */
export async function compareSeed(
  seed: number,
  store: TruthStore,
  into: Comparisons,
): Promise<PlayedSession> {
  const root = store === 'memory' ? '' : mkdtempSync(join(tmpdir(), 'hansard-truth-'));
  try {
    const played = await playRandomSession(seed, steps, openTruthStore(store, root));
    compare(seed, played, viewsOf, into);
    return played;
  } finally {
    if (root !== '') rmSync(root, { recursive: true });
  }
}
