import { contentLabel } from '../content/content-label.ts';
import type { OutputPart } from '../types/output-part.ts';
import { ObservedInstance } from './observed-instance.ts';
import { PrintedForm, reviveSnapshot } from './snapshot.ts';

/**
 * An observed value as text for models and people, the same in every runtime. JSON is printed as JSON; values that JSON cannot
 * hold have a notation of their own; an instance of a class is its class with its fields, or the text of its registered type.
 */
export function snapshotText(part: OutputPart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'json':
      return JSON.stringify(part.json);
    case 'image':
    case 'document':
    case 'audio':
      return contentLabel(part);
    case 'repr':
      return part.repr;
    case 'value':
      return printed(reviveSnapshot(part), new Set());
  }
}

/** The same text for the same value, in every runtime. `around` has the objects that contain the value, to end a cycle. */
function printed(value: unknown, around: Set<unknown>): string {
  if (value instanceof PrintedForm) return value.text;
  if (value instanceof ObservedInstance)
    return value.text ?? `${value.className} ${printed(value.data, around)}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (around.has(value)) return '[circular]';
  around.add(value);
  const text = printedObject(value, (item) => printed(item, around));
  around.delete(value);
  return text;
}

function printedObject(value: object, print: (item: unknown) => string): string {
  if (value instanceof Error) return printedError(value, print);
  if (value instanceof Date)
    return Number.isNaN(value.valueOf()) ? 'Date(invalid)' : `Date(${value.toISOString()})`;
  if (value instanceof RegExp || value instanceof URL || value instanceof URLSearchParams)
    return String(value);
  if (Array.isArray(value)) return `[${Array.from(value, print).join(', ')}]`;
  if (value instanceof Map)
    return `Map {${Array.from(value, ([key, item]) => `${print(key)} => ${print(item)}`).join(', ')}}`;
  if (value instanceof Set) return `Set {${Array.from(value, print).join(', ')}}`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${value.byteLength} bytes)`;
  if (value instanceof DataView) return `DataView(${value.byteLength} bytes)`;
  if (ArrayBuffer.isView(value)) {
    const numbers = value as unknown as ArrayLike<number | bigint>;
    return `${value.constructor.name} [${Array.from(numbers, print).join(', ')}]`;
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean)
    return print(value.valueOf());
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item)}`);
  return `{${fields.join(', ')}}`;
}

/** Without its stack, which is for people. */
function printedError(error: Error, print: (item: unknown) => string): string {
  const { errors } = error as { readonly errors?: unknown };
  const fields = Object.entries(error).map(([key, item]) => `${key}: ${print(item)}`);
  if (error.cause !== undefined) fields.push(`cause: ${print(error.cause)}`);
  if (errors !== undefined) fields.push(`errors: ${print(errors)}`);
  const line = error.message === '' ? error.name : `${error.name}: ${error.message}`;
  return fields.length === 0 ? line : `${line} {${fields.join(', ')}}`;
}
