import type { JsonObject, JsonValue } from '../json/json.ts';
import type { EventType, NewEvent } from './event.ts';

type Rule = (data: JsonObject) => JsonObject;

const longestLine = 200;

/**
 * The fields that `narrative` fidelity removes from the data of an event, by type: tool input, tool output and observed
 * values. A result keeps the first line of its error. The code that creates events and the code that records them use this.
 */
const rules: Readonly<Record<string, Rule>> = {
  'agent:tool_call': without('input'),
  'agent:tool_result': (data) => withFirstLine(without('output')(data), 'error'),
  'agent:output': (data) => ('parts' in data ? { ...data, parts: [] } : data),
  'harness:hook_decision': withoutToolContent,
  /** The content of a notice may be anything. */
  'system:notice': without('raw'),
};

/** Fields of captured data, at any depth, that hold output of commands or of tools. */
const outputFields: ReadonlySet<string> = new Set([
  'stdout',
  'stderr',
  'output',
  'fullOutput',
  'tool_input',
  'toolInput',
  'tool_use_result',
  'toolUseResult',
]);

/** The event for a dispatch of `narrative` fidelity. Returns the same object if nothing is left out. Idempotent. */
export function toNarrative<E extends Pick<NewEvent, 'type' | 'data'>>(event: E): E {
  const rule = ruleFor(event.type);
  const ruled = rule === undefined ? event.data : rule(event.data);
  const data = isObject(ruled.details) ? replaced(ruled, 'details', withoutOutput(ruled.details)) : ruled;
  return data === event.data ? event : { ...event, data };
}

/** The first line of a text that is not blank, truncated if it is long; undefined if there is none. */
export function firstLine(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd();
  return line === undefined || line.length <= longestLine ? line : `${line.slice(0, longestLine - 1)}…`;
}

/** Events of these types hold captured data of the system. */
function ruleFor(type: EventType): Rule | undefined {
  if (Object.hasOwn(rules, type)) return rules[type];
  return type.startsWith('system:') || type === 'session:status'
    ? (data) => withoutOutput(data) as JsonObject
    : undefined;
}

function without(key: string): Rule {
  return (data) => {
    if (!Object.hasOwn(data, key)) return data;
    const { [key]: _left, ...kept } = data;
    return kept;
  };
}

/** A decision on a delivery keeps its texts: they are talk, as in the delivery itself. */
function withoutToolContent(data: JsonObject): JsonObject {
  const kept = without('input')(data);
  return data.on === 'delivery' ? kept : without('text')(without('given')(kept));
}

function withFirstLine(data: JsonObject, key: string): JsonObject {
  const text = data[key];
  return typeof text === 'string' ? replaced(data, key, firstLine(text) ?? '') : data;
}

function withoutOutput(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return mapped(value, withoutOutput);
  if (!isObject(value)) return value;
  let kept = value;
  for (const [key, field] of Object.entries(value)) {
    if (outputFields.has(key)) kept = without(key)(kept);
    else if (typeof field === 'object' && field !== null) kept = replaced(kept, key, withoutOutput(field));
  }
  return kept;
}

function mapped(items: JsonValue[], change: (item: JsonValue) => JsonValue): JsonValue[] {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}

function replaced(data: JsonObject, key: string, value: JsonValue): JsonObject {
  if (data[key] === value) return data;
  const copy = { ...data };
  // An assignment to `__proto__` would set the prototype.
  Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
  return copy;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
