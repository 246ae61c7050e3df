import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EventData,
  type EventLinks,
  envelopeSchemaVersion,
  type JsonObject,
  type KnownEventType,
  toTimestamp,
} from '@hansard/events';

const start = Date.parse('2026-03-01T09:30:00.000Z');
let made = 0;

/** An event of a known type, at 09:30:00. */
export function event<T extends KnownEventType>(
  type: T,
  data: EventData<T>,
  links: EventLinks & { readonly id?: string } = {},
): CapturedEvent {
  return anyEvent(type, data as JsonObject, links);
}

/** An event of any type and data. */
export function anyEvent(
  type: CapturedEvent['type'],
  data: JsonObject,
  links: EventLinks & { readonly id?: string } = {},
): CapturedEvent {
  made += 1;
  return { id: `event-${made}`, type, timestamp: toTimestamp(start), ...links, data };
}

export function envelope(changes: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId: '01JM0000000000000000000001',
    taskSlug: 'route-models',
    role: 'product-analyst',
    title: null,
    model: 'claude-sonnet-4-5',
    cwd: '/workspace',
    startedAt: '2026-03-01T09:30:00.000Z',
    completedAt: '2026-03-01T09:31:10.000Z',
    status: 'completed',
    ended: null,
    cost: 0.15,
    usage: { inputTokens: 300, outputTokens: 60, turns: 3 },
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
    schemaVersion: envelopeSchemaVersion,
    ...changes,
  };
}
