import { toolConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createSessionTools } from '../src/index.ts';
import { agent, fakeHost } from './fake-host.ts';

const calls = {
  discuss: { plain: { speakers: ['Jill'], prompt: 'Begin.' }, wrongInput: { speakers: [] } },
  tell: {
    plain: { to: 'Jill', text: 'Hello.', expect_answer: true },
    wrongInput: { to: 'nobody', text: 'Hello.' },
  },
};

// Without `slow`: these tools wait only for the host, which the session stops with the same signal.
for (const tool of ['discuss', 'tell'] as const)
  toolConformance.define({
    name: `tools-session (${tool})`,
    describe,
    it,
    scenarios: ['wrongInput'],
    create: (scenario) => ({
      provider: createSessionTools(),
      call: {
        tool,
        input: calls[tool][scenario === 'wrongInput' ? 'wrongInput' : 'plain'],
        agents: fakeHost([agent('Jill')]),
      },
    }),
  });
