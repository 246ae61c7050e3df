import { hookConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createLimitsHook } from '../src/index.ts';

hookConformance.define({
  name: 'hook-limits',
  describe,
  it,
  scenarios: ['decides'],
  create: () => ({ provider: createLimitsHook({ tools: { deny: ['conformance_tool'] } }) }),
});
