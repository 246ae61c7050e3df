import type { DispatchEnvelope } from '@hansard/events';

export function makeEnvelope(dispatchId: string, changes: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId,
    taskSlug: 'maps',
    role: 'worker',
    title: null,
    model: null,
    cwd: null,
    startedAt: '2026-03-01T09:30:00.000Z',
    completedAt: null,
    status: 'running',
    ended: null,
    cost: null,
    usage: null,
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'full',
    schemaVersion: 1,
    ...changes,
  };
}
