import type { CapturedEvent } from './event.ts';

const fieldOrder = [
  'id',
  'type',
  'v',
  'timestamp',
  'agentId',
  'messageId',
  'substance',
  'cause',
  'via',
] as const;
const known = new Set<string>([...fieldOrder, 'data']);

/** The event as one line of JSON, without a line end: the known keys in their order, then keys of newer versions, `data` last. */
export function encodeEvent(event: CapturedEvent): string {
  return JSON.stringify(inLineOrder(event));
}

/** The same event with its keys in the order of the line. */
export function inLineOrder(event: CapturedEvent): CapturedEvent {
  const ordered: Record<string, unknown> = {};
  const source = event as unknown as Record<string, unknown>;
  for (const key of fieldOrder) if (source[key] !== undefined) ordered[key] = source[key];
  for (const key of Object.keys(source)) if (!known.has(key)) ordered[key] = source[key];
  ordered.data = event.data;
  return ordered as unknown as CapturedEvent;
}
