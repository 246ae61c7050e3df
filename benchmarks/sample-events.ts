import { randomUUID } from 'node:crypto';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';

export const taskDir = 'benchmarks/tasks/append';
const sentence = 'The route table has three candidates; the second one is cheaper at night. ';

/** What an agent says: 222 characters, about 330 bytes as a line. */
export const text = sentence.repeat(3);

/** The event at a position, with an id that grows with it. */
export function sampleEvent(position: number): CapturedEvent {
  return withId(`01JM${String(position).padStart(22, '0')}`);
}

/** An event as imports bring them, with an id that does not show its place. */
export function importedEvent(): CapturedEvent {
  return withId(randomUUID());
}

export function sampleEnvelope(dispatchId: string): DispatchEnvelope {
  return {
    dispatchId,
    taskSlug: 'append',
    role: 'worker',
    title: null,
    model: 'model-a',
    cwd: '/home/ada/route-models',
    startedAt: '2026-03-01T09:00:00.000Z',
    completedAt: null,
    status: 'running',
    ended: null,
    cost: 0.15,
    usage: { inputTokens: 1200, outputTokens: 340 },
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'narrative',
    schemaVersion: 1,
  };
}

function withId(id: string): CapturedEvent {
  return { id, type: 'agent:text', timestamp: '2026-03-01T09:30:00.000Z', data: { text } };
}
