import { modelConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { openScriptedModel } from '../src/index.ts';

const turns = {
  plain: { say: 'Good day to you.', think: 'Be nice.', stream: true },
  repeatable: { say: 'Good day to you.', think: 'Be nice.', stream: true },
  slow: { say: 'Good day.', delayMs: 60_000, stream: true },
  toolCall: { call: [{ tool: 'look', input: { at: 'table' } }, { tool: 'look' }] },
};

modelConformance.define({
  name: 'model-scripted',
  describe,
  it,
  scenarios: ['toolCall', 'slow', 'repeatable'],
  create: async (scenario) => ({
    provider: await openScriptedModel({ scenario: { agents: { root: [turns[scenario]] } } }),
    request:
      scenario === 'toolCall'
        ? { tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] }
        : {},
  }),
});
