import { hookConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createRedactHook } from '../src/index.ts';

hookConformance.define({
  name: 'hook-redact',
  describe,
  it,
  scenarios: ['decides'],
  create: () => ({
    provider: createRedactHook({ patterns: [{ pattern: '1234' }] }),
    question: { on: 'delivery', dispatchId: 'D1', to: 'agent_001', text: 'It is 1234.', agents: [] },
  }),
});
