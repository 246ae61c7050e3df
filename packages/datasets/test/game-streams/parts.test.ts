import { describe, expect, it } from 'vitest';
import { partsDifference } from './parts-difference.ts';
import { partsGame } from './parts-game.ts';

const first = Number(process.env.HANSARD_SEED ?? 1);

describe(`random games whose agents speak, think and act in one text (HANSARD_SEED=${first})`, () => {
  it('have no thought and no whisper in the chat, a packet for judges or a dialog, and each in its place', () => {
    const planted = { said: 0, thought: 0, whispered: 0, perhaps: 0 };
    for (let seed = first; seed < first + 100; seed += 1) {
      expect(partsDifference(seed)).toEqual([]);
      const { truth } = partsGame(seed);
      for (const kind of ['said', 'thought', 'whispered', 'perhaps'] as const)
        planted[kind] += truth[kind].length;
    }
    expect(planted.said).toBeGreaterThan(100);
    expect(planted.thought + planted.whispered).toBeGreaterThan(800);
  });
});
