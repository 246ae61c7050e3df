import type { CapturedEvent, JsonValue } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';

/** Something that an event says or does, without the parts that differ between two runs: ids, times, durations, usage and records of the harness. */
export interface Deed {
  readonly kind: 'prompt' | 'message' | 'text' | 'thought' | 'call' | 'result' | 'end';
  /** By name, in the order in which they are compared. */
  readonly fields: readonly (readonly [name: string, value: JsonValue])[];
}

/** The deed of an event; null for one that has none. */
export function deedOf(event: CapturedEvent): Deed | null {
  if (isReadableAs(event, 'agent:system_prompt'))
    return { kind: 'prompt', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'user:message')) return { kind: 'message', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:text')) return { kind: 'text', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:thinking')) return { kind: 'thought', fields: [['text', event.data.text]] };
  if (isReadableAs(event, 'agent:tool_call')) {
    const { tool, target, input } = event.data;
    return {
      kind: 'call',
      fields: [
        ['tool', tool],
        ['target', target ?? null],
        ['input', input ?? null],
      ],
    };
  }
  if (isReadableAs(event, 'agent:tool_result')) {
    const { tool, status, error, output } = event.data;
    return {
      kind: 'result',
      fields: [
        ['tool', tool],
        ['status', status],
        ['error', error ?? null],
        ['output', output ?? null],
      ],
    };
  }
  if (isReadableAs(event, 'session:complete')) {
    const { status, result, structuredResult } = event.data;
    return {
      kind: 'end',
      fields: [
        ['status', status],
        ['result', result ?? null],
        ['structured result', structuredResult ?? null],
      ],
    };
  }
  return null;
}

/** The name of the first field that differs; null if all are the same. */
export function firstDifferentField(one: Deed, other: Deed): string | null {
  if (one.kind !== other.kind) return 'kind';
  const at = one.fields.findIndex(([, value], index) => !isSame(value, other.fields[index]?.[1] ?? null));
  return one.fields[at]?.[0] ?? null;
}

/** Whether two values are the same, without regard to the order of keys. */
function isSame(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => isSame(item, other[at] ?? null))
    );
  const [left, right] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isSame(value ?? null, right.get(key) ?? null))
  );
}
