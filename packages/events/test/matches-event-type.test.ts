import { expect, it } from 'vitest';
import { matchesEventType } from '../src/plain.ts';

it.each([
  ['agent:text', 'agent:text', true],
  ['agent:text', 'agent:text_more', false],
  ['agent:*', 'agent:tool_call', true],
  ['agent:*', 'harness:stall', false],
  ['*', 'game:vote', true],
  ['harness:loop_*', 'harness:loop_kill', true],
  ['harness:loop_*', 'harness:stall', false],
  ['*:*_result', 'agent:tool_result', true],
  ['*ab*ab', 'xab', false],
  ['*ab*ab', 'xabab', true],
  ['agent.*', 'agent:text', false],
  ['', 'agent:text', false],
])('the pattern %j and the type %j: %j', (pattern, type, matches) => {
  expect(matchesEventType(pattern, type)).toBe(matches);
});

it('takes linear time for any pattern', { timeout: 5_000 }, () => {
  const type = `a:${'a'.repeat(200_000)}b`;
  expect(matchesEventType('*a'.repeat(100_000), type)).toBe(false);
  expect(matchesEventType(`${'*a'.repeat(100_000)}*b`, type)).toBe(true);
});
