import type { DispatchEnvelope } from '@hansard/events';
import type { DispatchHost } from '@hansard/provider';
import { toolConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createDispatchTools } from '../src/index.ts';

const worker: DispatchEnvelope = {
  dispatchId: 'worker-1',
  taskSlug: 'route-models',
  parentDispatchId: 'dispatch-1',
  role: 'ts-dev',
  model: null,
  cwd: null,
  botId: null,
  title: null,
  status: 'completed',
  ended: null,
  fidelity: 'narrative',
  startedAt: '2026-03-01T09:00:00.000Z',
  completedAt: '2026-03-01T09:10:00.000Z',
  cost: null,
  usage: null,
  models: null,
  periods: null,
  prices: null,
  openCalls: null,
  folded: null,
  source: null,
  structuredResult: null,
  schemaVersion: 1,
};

/** A dispatch with one worker; without `hasEnded` it runs until the wait for it is stopped. */
function hostOf(hasEnded: boolean): DispatchHost {
  return {
    dispatchId: 'dispatch-1',
    mayStart: true,
    listAgents: () => [],
    startWorker: async () => worker,
    listWorkers: async () => [worker],
    getWorker: async () => worker,
    getRecentEvents: async () => [],
    awaitWorker: (_, signal) =>
      hasEnded
        ? Promise.resolve(worker)
        : new Promise((__, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    abortWorker: async () => worker,
    listReachable: () => [],
    send: async () => 'event-1',
  };
}

const calls = {
  dispatch_agent: { good: { role: 'ts-dev', prompt: 'Work.' }, wrong: { role: 'ts-dev' } },
  await_dispatch: { good: { dispatch_ids: 'worker-1' }, wrong: { dispatch_ids: [] } },
  message_dispatch: { good: { to: 'parent', text: 'Hello.' }, wrong: { to: 'parent', text: '' } },
};

for (const tool of ['dispatch_agent', 'await_dispatch', 'message_dispatch'] as const)
  toolConformance.define({
    name: `tools-dispatch (${tool})`,
    describe,
    it,
    scenarios: tool === 'await_dispatch' ? ['wrongInput', 'slow'] : ['wrongInput'],
    create: (scenario) => ({
      provider: createDispatchTools(),
      call: {
        tool,
        input: scenario === 'wrongInput' ? calls[tool].wrong : calls[tool].good,
        dispatches: hostOf(scenario !== 'slow'),
      },
    }),
  });
