import type { CapturedEvent, DispatchEnvelope, JsonObject, TaskRecord } from '@hansard/provider';

export const startOfDay = '2026-03-01T09:00:00.000Z';

/** The envelope of a new dispatch. */
export function sampleEnvelope(dispatchId: string, fields: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId,
    taskSlug: 'route-models',
    role: 'worker',
    title: null,
    model: 'model-a',
    cwd: '/home/ada/route models',
    startedAt: startOfDay,
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
    fidelity: 'narrative',
    schemaVersion: 1,
    ...fields,
  };
}

/** An event with text. */
export function sampleEvent(id: string, text = `the text of ${id}`): CapturedEvent {
  return { id, type: 'agent:text', timestamp: startOfDay, data: { text } };
}

/** Events with the ids `prefix-0`, `prefix-1` … */
export function sampleEvents(count: number, prefix = 'event'): CapturedEvent[] {
  return Array.from({ length: count }, (_, index) => sampleEvent(`${prefix}-${index}`));
}

/** An event of an unknown type, with any data. */
export function valueEvent(id: string, data: JsonObject): CapturedEvent {
  return { id, type: 'kit:value', timestamp: startOfDay, data };
}

export function sampleTask(slug: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return { slug, name: `Task ${slug}`, project: 'research', status: 'open', created: startOfDay, ...fields };
}
