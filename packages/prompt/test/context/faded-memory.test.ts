import { describe, expect, it } from 'vitest';
import { type ContextPolicy, contextErrors, createContextRenderer, renderContext } from '../../src/index.ts';
import { faded, seeds, thrown } from './context-scenario.ts';
import { called, compacted, heard, randomLog, result, said, system, words } from './make-agent-log.ts';

describe('faded memory', () => {
  const long = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name}${index}`).join(' ');

  it('never takes more than the budget without its reserve', () => {
    for (const seed of seeds)
      for (const [budget, reserve] of [
        [3_000, 0],
        [4_000, 1_500],
      ] as const) {
        const policy = faded(budget, { reserve });
        const renderer = createContextRenderer({ policy, tokens: words });
        for (const next of randomLog(seed + 40, 300)) {
          renderer.observe(next);
          const prompt = renderer.render().manifest.tokens?.prompt ?? Number.NaN;
          expect(prompt).toBeLessThanOrEqual(budget - reserve);
        }
      }
  });

  it('shows older messages in less detail, the system prompt and the newest message in full', () => {
    const events = [system(long('rule', 200))];
    for (let turn = 0; turn < 40; turn += 1)
      events.push(called(`c${turn}`), result(`c${turn}`, long(`of${turn}-`, 400)), said(`turn ${turn}`));
    events.push(heard(long('newest', 500)));
    const { messages, manifest } = renderContext(events, { policy: faded(6_000), tokens: words });
    expect(manifest.parts.map(({ kind, detail }) => `${kind} ${detail}`)).toEqual([
      'systemPrompts high',
      'messages low',
      'messages medium',
      'messages high',
    ]);
    expect(messages[0]?.text).toBe(long('rule', 200));
    expect(messages.at(-1)?.text).toBe(long('newest', 500));
    const lengths = messages.flatMap(({ role, text }) => (role === 'tool' ? [text.length] : []));
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));
    expect(messages.find(({ role }) => role === 'tool')?.text).toMatch(/\[… \d+ characters left out …\]/);
  });

  it('shortens results of tools before messages', () => {
    const events = [heard(long('said', 200)), called('c1'), result('c1', long('gave', 200))];
    for (let turn = 0; turn < 8; turn += 1) events.push(heard(long(`then${turn}-`, 90)));
    const { messages } = renderContext(events, { policy: faded(1_100, { step: 0 }), tokens: words });
    expect(messages[0]?.text).toBe(long('said', 200));
    expect(messages.find(({ role }) => role === 'tool')?.text).toContain('left out');
  });

  it('fades in steps: between two of them the beginning of the prompt stays the same', () => {
    const renderer = createContextRenderer({ policy: faded(4_000), tokens: words });
    renderer.observe(system('Be brief.'));
    let steps = 0;
    let calls = 0;
    let shares = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      for (const next of [heard(long('q', 20)), called(`c${turn}`), result(`c${turn}`, long('r', 60))])
        renderer.observe(next);
      const { messages, manifest } = renderer.render();
      calls += 1;
      shares += manifest.prefix.share;
      if (turn > 0 && manifest.prefix.messages !== messages.length - 3) steps += 1;
    }
    // About 25 turns of 90 tokens fit into the tokens that one step frees at first, fewer when they are shortened later.
    expect(calls / steps).toBeGreaterThan(8);
    expect(shares / calls).toBeGreaterThan(0.85);
  });

  it('shortens the newest answer only if it does not fit, and still shows a result for each call', () => {
    const id = 'm-wide';
    const wide = Array.from({ length: 10 }, (_, index) => called(`w${index}`, {}, id));
    const results = Array.from({ length: 10 }, (_, index) => result(`w${index}`, long(`r${index}-`, 300)));
    const { messages, manifest } = renderContext([system('Be brief.'), ...wide, ...results], {
      policy: faded(1_500),
      tokens: words,
    });
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(10);
    expect(messages.at(-1)?.text).toBe(long('r9-', 300));
    expect(manifest.tokens?.prompt).toBeLessThanOrEqual(1_500);
  });

  it('is refused, with the numbers, if the system prompt and the newest message do not fit', () => {
    const events = [system(long('rule', 300)), heard(long('newest', 100))];
    const renderer = createContextRenderer({ policy: faded(350, { reserve: 20 }), tokens: words });
    for (const next of events) renderer.observe(next);
    const failure = thrown(() => renderer.render());
    expect(contextErrors.is(failure, 'CONTEXT_BUDGET_TOO_SMALL')).toBe(true);
    const needed = 300 + 4 + 100 + 4;
    expect(failure).toMatchObject({
      details: { budget: 350, reserve: 20, needed, systemPrompts: 304, newest: 104 },
      message: expect.stringContaining(`Raise it to ${needed + 20} or more`),
    });
    const enough = { policy: faded(needed + 20, { reserve: 20 }), tokens: words };
    expect(renderContext(events, enough).messages).toHaveLength(2);
  });

  it('is refused with numbers that add up, whatever other messages cannot be left out', () => {
    const events = [
      system(long('rule', 30)),
      heard(long('old', 40)),
      compacted(long('summary', 20)),
      heard(long('asked', 40)),
      called('c1', long('where', 50)),
      result('c1', long('found', 60)),
    ];
    const failure = thrown(() => renderContext(events, { policy: faded(50), tokens: words }));
    const numbers = (failure as Error).message.match(/\d+/g)?.map(Number) ?? [];
    const [budget, needed = 0, ofSystem = 0, ofNewest = 0, beside = 0, raiseTo = 0] = numbers;
    expect({ budget, ofSystem, ofNewest }).toEqual({ budget: 50, ofSystem: 34, ofNewest: 64 });
    expect(ofSystem + ofNewest + beside).toBe(needed);
    const enough = { policy: faded(raiseTo), tokens: words };
    expect(renderContext(events, enough).messages.at(-1)?.text).toBe(long('found', 60));
  });

  it('needs a token counter and valid numbers', () => {
    const wrong: unknown[] = [
      faded(0),
      faded(10, { step: 1 }),
      faded(10, { reserve: -1 }),
      { name: 'lastMessages', count: 0 },
      { name: 'lastMessages', count: 2, step: 3 },
      { name: 'other' },
    ];
    for (const policy of wrong)
      expect(() => createContextRenderer({ policy: policy as ContextPolicy, tokens: words })).toThrow(
        TypeError,
      );
    expect(() => createContextRenderer({ policy: faded(10) })).toThrow(/createTokenCounter/);
  });
});
