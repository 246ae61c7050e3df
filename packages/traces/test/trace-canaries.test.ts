import { canariesIn, canaryGame, narrativeCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { textOf } from './exported.ts';
import { oneDispatch } from './sample-run.ts';

/** What a trace without content has: names, ids and kinds. Any other text of the log is content. */
const names = [
  'agent:created.languageModel',
  'agent:inference.model',
  'agent:inference.stopReason',
  'harness:error.code',
  'harness:hook_decision.hook',
  'session:init.sessionId',
];

describe('a trace without content', () => {
  it('of random games holds names and kinds, and no other text of any field', async () => {
    const count = new Map<string, number>();
    const shown = new Set<string>();
    for (let seed = 1; seed <= 20; seed += 1) {
      const { events, planted } = canaryGame(seed);
      const found = canariesIn(await textOf(oneDispatch(events), { content: 'none', reasoning: true }));
      for (const { word, field } of planted) {
        count.set(field, (count.get(field) ?? 0) + 1);
        if (found.has(word)) shown.add(field);
      }
    }
    expect([...shown].sort()).toEqual(names);
    expect([...count].filter(([, times]) => times < 20)).toEqual([]);
  });

  it('of all types of events holds none of the words in private fields', async () => {
    for (const seed of [1, 2]) {
      const { events, secret, kept } = narrativeCanaries(seed, 10);
      const found = canariesIn(await textOf(oneDispatch(events)));
      expect(
        secret.filter((word) => found.has(word)),
        `seed ${seed}`,
      ).toEqual([]);
      expect(kept.filter((word) => found.has(word)).length).toBeGreaterThan(0);
    }
  });

  it.each([
    ['the reason why a model stopped', 'agent:inference', 'stopReason'],
    ['the code of an error', 'harness:error', 'code'],
    ['the name of a hook', 'harness:hook_decision', 'hook'],
    ['the trigger of a compaction', 'session:compaction', 'trigger'],
  ])('cuts %s to a line of 200 characters', async (_, type, field) => {
    for (const [at, tail] of ['\n', ` ${'-'.repeat(200)}`].entries()) {
      const text = `KEPT_1_${at}_${tail}SECRET_1_${at}_`;
      const events = canaryGame(1).events.map((event) =>
        event.type === type ? { ...event, data: { ...event.data, [field]: text } } : event,
      );
      const found = canariesIn(await textOf(oneDispatch(events)));
      expect([found.has(`KEPT_1_${at}_`), found.has(`SECRET_1_${at}_`)]).toEqual([true, false]);
    }
  });

  it('would hold them with content, which these words catch', async () => {
    const { events, secret } = narrativeCanaries(1, 1);
    const found = canariesIn(await textOf(oneDispatch(events), { content: 'spans', reasoning: true }));
    expect(secret.filter((word) => found.has(word)).length).toBeGreaterThan(4);
  });
});
