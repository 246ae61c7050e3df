import { join } from 'node:path';
import { agentConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createReplayAgent } from '../src/index.ts';
import { fixtures } from './run-agent.ts';

/** Waits once, and then until the replay is stopped. */
function waitOnce(): (ms: number, signal: AbortSignal) => Promise<void> {
  let hasWaited = false;
  return (_, signal) => {
    if (!hasWaited) {
      hasWaited = true;
      return Promise.resolve();
    }
    return new Promise((__, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
}

agentConformance.define({
  name: 'the replay agent',
  describe,
  it,
  scenarios: ['recording', 'slow'],
  create: (scenario) => ({
    provider: createReplayAgent({
      path: join(fixtures, 'tools-and-thinking.jsonl'),
      ...(scenario === 'slow' ? { delayMs: 1, wait: waitOnce() } : {}),
    }),
  }),
});
