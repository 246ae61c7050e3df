import type { CapturedEvent } from './types/event.ts';

/** The keys of an event in the order of the line. Keys of newer versions come before `data`, which is last. */
const lineOrder = [
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
const ranks = new Map<string, number>([
  ...lineOrder.map((key, rank) => [key, rank] as const),
  ['data', lineOrder.length + 1],
]);
const rankOfOthers = lineOrder.length;

/** The event as one line of JSON, without a line end; `data` is the last key. */
export function encodeEvent(event: CapturedEvent): string {
  return JSON.stringify(inLineOrder(event));
}

/**
 * The event with its keys in the order of the line, without those whose value is `undefined`. Returns the same object if
 * nothing changes.
 */
export function inLineOrder(event: CapturedEvent): CapturedEvent {
  if (isInLineOrder(event)) return event;
  const source = event as unknown as Record<string, unknown>;
  const ordered: Record<string, unknown> = {};
  for (const key of lineOrder) {
    const value = source[key];
    if (value !== undefined) ordered[key] = value;
  }
  for (const key of Object.keys(source)) {
    if (ranks.has(key) || source[key] === undefined) continue;
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(ordered, key, {
      value: source[key],
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  ordered.data = source.data;
  return ordered as unknown as CapturedEvent;
}

function isInLineOrder(event: CapturedEvent): boolean {
  let latest = -1;
  for (const key in event) {
    const rank = ranks.get(key) ?? rankOfOthers;
    if (rank < latest) return false;
    latest = rank;
  }
  return latest === rankOfOthers + 1;
}
