import { parse, stringify } from 'devalue';
import { inspect } from 'loupe';
import { findNotJson, type JsonValue } from './json.ts';
import type { OutputPart } from './output-part.ts';

const longestPrintedForm = 2_000;
/** Leaves room for the event around the value, which as a whole may nest 1,000 deep. */
const deepestJson = 900;

/** What stands where a value could not be encoded: its printed form, marked as such. */
export class PrintedForm {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Copies an observed value into a part of an `agent:output` event, so that later changes to the value do not change
 * the record. Text and JSON stay as they are; Map, Set, Date, BigInt, typed arrays, NaN, cycles and the like are
 * encoded; functions, handles and instances of classes become their printed form, each where it stood.
 */
export function snapshot(value: unknown): OutputPart {
  if (typeof value === 'string') return { kind: 'text', text: value };
  try {
    return isJsonTree(value)
      ? { kind: 'json', json: JSON.parse(JSON.stringify(value)) as JsonValue }
      : encode(value);
  } catch {
    // A getter or a proxy of the value itself threw: what is left to keep is how it prints.
    return { kind: 'repr', repr: printedForm(value) };
  }
}

/** The value that a part holds, as a fresh copy. An image is its bytes; a printed form is a `PrintedForm`. */
export function reviveSnapshot(part: OutputPart): unknown {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'json':
      return structuredClone(part.json);
    case 'image':
      return Uint8Array.from(atob(part.base64), (character) => character.charCodeAt(0));
    case 'value':
      return parse(part.encoded, { PrintedForm: (text: string) => new PrintedForm(text) });
    case 'repr':
      return new PrintedForm(part.repr);
  }
}

function encode(value: unknown): OutputPart {
  if (cannotEncode(value)) return { kind: 'repr', repr: printedForm(value) };
  const encoded = stringify(value, { PrintedForm: (item) => cannotEncode(item) && printedForm(item) });
  return { kind: 'value', encoding: 'devalue', encoded };
}

/** JSON without shared or circular references and without `undefined`, which would not come back the same; not too deep. */
function isJsonTree(value: unknown): boolean {
  const seen = new Set<object>();
  const walk = (item: unknown, depth: number): boolean => {
    if (typeof item !== 'object' || item === null) return findNotJson(item) === null && !Object.is(item, -0);
    if (depth > deepestJson || seen.has(item)) return false;
    seen.add(item);
    const isTree = (child: unknown) => walk(child, depth + 1);
    if (Array.isArray(item)) return item.length === Object.keys(item).length && item.every(isTree);
    const prototype = Object.getPrototypeOf(item);
    if (prototype !== Object.prototype && prototype !== null) return false;
    if (Object.getOwnPropertySymbols(item).length > 0) return false;
    return typeof (item as { toJSON?: unknown }).toJSON !== 'function' && Object.values(item).every(isTree);
  };
  return walk(value, 0);
}

const encodable = new Set([
  'Object',
  'Array',
  'Date',
  'Map',
  'Set',
  'RegExp',
  'URL',
  'URLSearchParams',
  'ArrayBuffer',
  'DataView',
  'Number',
  'String',
  'Boolean',
  'BigInt',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
]);

function cannotEncode(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return false;
  return !encodable.has(prototype.constructor?.name) || Object.getOwnPropertySymbols(value).length > 0;
}

function printedForm(value: unknown): string {
  try {
    return inspect(value, { truncate: longestPrintedForm });
  } catch {
    return Object.prototype.toString.call(value);
  }
}
