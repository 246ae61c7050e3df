import { parse, type StringifyOperations, stringify } from 'devalue';
import { inspect } from 'loupe';
import { contentLabel } from '../content/content-label.ts';
import { findNotJson, type JsonValue } from '../json/json.ts';
import type { OutputPart } from '../types/output-part.ts';
import { errorOf, fieldsOf, isCyclic, isError } from './observed-error.ts';
import { imagePart, isObservedImage, observedImage } from './observed-image.ts';
import { type InstanceFields, instanceFields, ObservedInstance } from './observed-instance.ts';

const longestPrintedForm = 2_000;
/** Leaves room for the event around the value, which as a whole may nest 1,000 deep. */
const deepestJson = 900;

/** Replaces a value that could not be encoded: its printed form, marked as such. */
export class PrintedForm {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Copies an observed value into a part of an `agent:output` event, so that later changes to the value do not change
 * the record. Text and JSON stay unchanged; an `ObservedImage` is kept as an image; Map, Set, Date, BigInt, typed arrays
 * (only the visible part of their buffer; a Buffer as a Uint8Array), errors, NaN, cycles and the like are encoded. Of an instance
 * of a class its own fields are copied with the name of the class, or what its registered type says (`registerSnapshotType`).
 * Functions, handles, properties that throw, and instances that are cyclic, deep or huge are replaced by their printed form. Never throws.
 */
export function snapshot(value: unknown): OutputPart {
  if (typeof value === 'string') return { kind: 'text', text: value };
  return asItIs(value) ?? encode(value);
}

/**
 * The value of a part as a fresh copy: the observed value, with an `ObservedInstance` or a `PrintedForm` in the place of what cannot be
 * restored. An image whose bytes are in the log is its printed form.
 */
export function reviveSnapshot(part: OutputPart): unknown {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'json':
      return structuredClone(part.json);
    case 'image':
    case 'document':
    case 'audio':
      return observedImage(part) ?? new PrintedForm(contentLabel(part));
    case 'value':
      return parse(part.encoded, {
        PrintedForm: (text: string) => new PrintedForm(text),
        Error: errorOf,
        Instance: (fields: InstanceFields) => new ObservedInstance(fields),
      });
    case 'repr':
      return new PrintedForm(part.repr);
  }
}

function asItIs(value: unknown): OutputPart | null {
  try {
    if (isObservedImage(value)) return imagePart(value);
    if (isJsonTree(value)) return { kind: 'json', json: JSON.parse(JSON.stringify(value)) as JsonValue };
  } catch {
    // A getter or a proxy in it threw. The encoding replaces it.
  }
  return null;
}

function encode(value: unknown): OutputPart {
  const instances = new Instances();
  if (isError(value) || instances.has(value) || !cannotEncode(value)) {
    try {
      const encoded = stringify(value, reducersWith(instances), { operations });
      return { kind: 'value', encoding: 'devalue', encoded };
    } catch {
      // Too deep, or an object that only resembles one that can be encoded.
    }
  }
  return { kind: 'repr', repr: printedForm(value) };
}

function reducersWith(instances: Instances): Record<string, (item: unknown) => unknown> {
  return {
    Error: (item) => isError(item) && !isCyclic(item) && fieldsOf(item),
    Instance: (item) => instances.has(item) && instances.of(item),
    PrintedForm: (item) => cannotEncode(item) && printedForm(item),
  };
}

/** The instances of classes in one value. What is kept of each is found once. */
class Instances {
  readonly #known = new Map<object, InstanceFields | null>();

  has(item: unknown): item is object {
    if (typeof item !== 'object' || item === null || !cannotEncode(item) || isError(item)) return false;
    return this.of(item) !== null;
  }

  /** Null: its printed form is kept. */
  of(item: object): InstanceFields | null {
    const known = this.#known.get(item);
    if (known !== undefined) return known;
    const fields = this.#find(item);
    this.#known.set(item, fields);
    return fields;
  }

  #find(item: object): InstanceFields | null {
    try {
      if (item instanceof PrintedForm) return null;
      if (item instanceof ObservedInstance) {
        const { className, data, text } = item;
        return { className, data, ...(text === null ? {} : { text }) };
      }
    } catch {
      // A proxy that throws on every access.
      return null;
    }
    return instanceFields(item, unreadable);
  }
}

const unreadable = (error: unknown) => new PrintedForm(`[reading it threw: ${printedForm(error)}]`);

const operations: Partial<StringifyOperations> = {
  get(value, key) {
    try {
      return value[key];
    } catch (error) {
      return unreadable(error);
    }
  },
  /** Copies only the observed part of the buffer. The rest can be large. */
  viewInfo(view) {
    const { byteLength, byteOffset, length } = view;
    const { buffer } = new Uint8Array(view.buffer, byteOffset, byteLength).slice();
    return { buffer, byteOffset: 0, byteLength, length, bufferByteLength: byteLength };
  },
};

/** Whether a value is JSON without shared or circular references and without `undefined`, and not too deep, so that it is restored unchanged. */
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
  'Buffer',
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
  try {
    const prototype = Object.getPrototypeOf(value);
    const hasSymbols = Object.getOwnPropertySymbols(value).length > 0;
    return hasSymbols || (prototype !== null && !encodable.has(prototype.constructor?.name));
  } catch {
    // A proxy that throws on every access.
    return true;
  }
}

function printedForm(value: unknown): string {
  for (const print of [inspected, tagOf]) {
    try {
      const text = print(value);
      // An object without own content, such as a generator.
      if (text !== '') return text;
    } catch {
      // A getter or a proxy threw.
    }
  }
  return `[unprintable ${typeof value}]`;
}

function inspected(value: unknown): string {
  return value instanceof PrintedForm ? value.text : inspect(value, { truncate: longestPrintedForm });
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}
