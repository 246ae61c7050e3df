import { hookConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createAgentHook } from '../src/index.ts';

const observe = ['message', 'delivery', 'utterance', 'call', 'result', 'end', 'notification'] as const;

hookConformance.define({
  name: 'hook-agent',
  describe,
  it,
  scenarios: ['decides', 'observes'],
  create: (scenario) => ({
    provider: createAgentHook({ systemPrompt: 'You watch.', decide: ['tool_call'], observe }),
    answer: scenario === 'decides' ? 'DENY. No.' : 'Mind the gap.',
  }),
});
