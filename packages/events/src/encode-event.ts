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
  'follows',
  'retracts',
] as const;
const known: ReadonlySet<string> = new Set(lineOrder);

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
    if (known.has(key) || key === 'data' || source[key] === undefined) continue;
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

/** Every event passes here. Its keys are nearly always among the next of the order, where comparing finds them faster than a map. */
function isInLineOrder(event: CapturedEvent): boolean {
  let at = 0;
  let hasData = false;
  for (const key in event) {
    if (hasData) return false;
    if (key === 'data') hasData = true;
    else {
      while (at < lineOrder.length && lineOrder[at] !== key) at += 1;
      // Another key, or one that comes too late.
      if (at === lineOrder.length && known.has(key)) return false;
    }
  }
  return hasData;
}
