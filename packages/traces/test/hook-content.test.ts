import { toNarrative } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { exported, only, textOf } from './exported.ts';
import { event, oneDispatch } from './sample-run.ts';

describe('the content of a trace', () => {
  it('of a hook decision is its reason, the text before and after it, and its place in the chain', async () => {
    const first = event('h1', 1, 'harness:hook_decision', {
      hook: 'soften',
      on: 'tool_result',
      decision: 'alter',
      reason: 'Be kind.',
      toolCallId: 'c1',
      given: 'This is bad.',
      text: 'This can be better.',
      madeFrom: ['u1', 'u2'],
    });
    const second = event('h2', 2, 'harness:hook_decision', {
      hook: 'translate',
      on: 'tool_result',
      decision: 'alter',
      toolCallId: 'c1',
      previous: 'h1',
      text: 'Das geht besser.',
    });
    const run = oneDispatch([first, second]);
    const { spans } = await exported(run, { content: 'spans' });
    expect(only(spans, 'execute_hook soften').attributes).toMatchObject({
      'hansard.hook.decision': 'alter',
      'hansard.hook.reason': 'Be kind.',
      'hansard.hook.given': 'This is bad.',
      'hansard.hook.text': 'This can be better.',
      'hansard.hook.made_from': ['u1', 'u2'],
    });
    expect(only(spans, 'execute_hook translate').attributes).toMatchObject({
      'hansard.hook.previous': 'h1',
      'hansard.hook.text': 'Das geht besser.',
    });
    const quiet = only((await exported(run)).spans, 'execute_hook translate').attributes;
    expect(quiet).toMatchObject({ 'hansard.hook.decision': 'alter', 'hansard.hook.previous': 'h1' });
    expect(
      Object.keys(quiet).filter((name) => /^hansard\.hook\.(reason|given|text|input)$/.test(name)),
    ).toEqual([]);
  });

  it('of a hook decision in a narrative log is what the log keeps: nothing of a tool', async () => {
    const data = {
      hook: 'soften',
      on: 'tool_result',
      decision: 'alter' as const,
      reason: 'Be kind.',
      given: 'canary',
      text: 'canary',
      input: { path: 'canary' },
    };
    const kept = toNarrative(event('h1', 1, 'harness:hook_decision', data));
    const run = oneDispatch([kept], { fidelity: 'narrative' });
    const text = await textOf(run, { content: 'spans' });
    expect(text).toContain('Be kind.');
    expect(text).not.toContain('canary');
  });
});
