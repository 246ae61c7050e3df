import { type CapturedEvent, toNarrative } from '@hansard/events';
import { canariesIn, narrativeCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { writeTaskMarkdown, writeTaskPage } from '../src/index.ts';
import { envelope, sourceOf, wholeOf } from './hostile-task.ts';

const seeds = [1, 2];
const rounds = 10;
const writers = { HTML: writeTaskPage, Markdown: writeTaskMarkdown } as const;

const reportOf = (as: keyof typeof writers, events: readonly CapturedEvent[]) =>
  wholeOf(writers[as](sourceOf([{ ...envelope, fidelity: 'narrative' }], events)));

describe.each(['HTML', 'Markdown'] as const)('a report of a narrative log as %s', (as) => {
  it('holds none of the words in private fields of any type of event', async () => {
    for (const seed of seeds) {
      const { events, secret, kept } = narrativeCanaries(seed, rounds);
      const found = canariesIn(await reportOf(as, events.map(toNarrative)));
      expect(
        secret.filter((word) => found.has(word)),
        `seed ${seed}`,
      ).toEqual([]);
      expect(kept.filter((word) => found.has(word)).length, `seed ${seed}`).toBeGreaterThan(kept.length / 10);
    }
  });

  it('would hold them if the log had them, which these words catch', async () => {
    const { events, secret } = narrativeCanaries(1, rounds);
    const words = new Set(secret);
    const shown = new Set<string>();
    for (const [at, event] of events.entries()) {
      if (at >= events.length / rounds) break;
      const alone = events.filter(({ type }) => type === event.type);
      const found = canariesIn(await reportOf(as, alone));
      if ([...found].some((word) => words.has(word))) shown.add(event.type);
    }
    expect(shown.size).toBeGreaterThan(30);
  });
});
