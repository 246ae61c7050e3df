import type { DispatchStoreProvider } from '@hansard/provider';
import type { PlayedSession } from './played-session.ts';
import { RandomPlay } from './random-play.ts';

/** Plays one session. One in three is loaded again in the middle, one in three crashes. */
export async function playRandomSession(
  seed: number,
  steps: number,
  provider?: DispatchStoreProvider,
): Promise<PlayedSession> {
  const play = new RandomPlay(seed, provider);
  await play.begin();
  for (let step = 0; step < steps; step += 1) {
    if (step === Math.floor(steps / 2) && seed % 3 === 1) play.crashSoon();
    await play.step();
    if (step === Math.floor(steps / 2) && seed % 3 === 0) await play.loadAgain();
  }
  while ((await play.countEvents()) < leastEvents) await play.step();
  return play.end();
}

const leastEvents = 60;
