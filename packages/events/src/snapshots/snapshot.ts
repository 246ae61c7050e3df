import { parse, type StringifyOperations, stringify } from 'devalue';
import { inspect } from 'loupe';
import { contentLabel } from '../content/content-label.ts';
import { findNotJson, type JsonValue } from '../json/json.ts';
import { shortened } from '../shortened.ts';
import type { OutputPart } from '../types/content-part.ts';
import type { EventLinks, NewEvent } from '../types/event.ts';
import { newEvent } from '../types/new-event.ts';
import { imagePart, isObservedImage, observedImage } from './observed-image.ts';
import { type InstanceFields, instanceFields, ObservedInstance } from './observed-instance.ts';

const longestStack = 10_000;

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

/** A text that knows its event: a `LoggedString` of `@hansard/provider`. */
function isLoggedText(value: unknown): value is string {
  try {
    return value instanceof String && 'messageId' in value;
  } catch {
    // A proxy that was revoked, or that throws. `snapshot` keeps its printed form.
    return false;
  }
}

/**
 * An `agent:output` event with the values that an agent observed, one part per value. The values are copied now, so that
 * later changes to a value do not reach the log, even in a store that keeps objects. A `LoggedString` is observed as its text.
 */
export function newOutput(
  values: readonly unknown[],
  fields: EventLinks & { readonly id?: string; readonly timestamp?: string | null } = {},
): NewEvent {
  return newEvent(
    'agent:output',
    { parts: values.map((value) => snapshot(isLoggedText(value) ? String(value) : value)) },
    fields,
  );
}

/** The fields of an observed error that are kept and restored. */
interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: unknown;
  /** Of an AggregateError. */
  readonly errors?: unknown;
  /** Its other properties, such as `code`. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Also an error of another realm, such as a worker's or a `vm` context's. Never throws. */
function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    // A proxy that throws on every access.
    return false;
  }
}

/** Whether the error is reached again from its own cause or properties: such a one cannot be restored. May throw. */
function isCyclic(error: Error): boolean {
  const done = new Set<unknown>();
  const reaches = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || done.has(value)) return false;
    done.add(value);
    const children = isError(value)
      ? [...Object.values(value), ...Object.values(ownFields(value))]
      : Object.values(value);
    return children.some((child) => child === error || reaches(child));
  };
  return reaches(error);
}

/** May throw, because the properties of an error may. */
function fieldsOf(error: Error): ErrorFields {
  const { name, message, stack, cause, errors, ...others }: Record<string, unknown> = {
    ...error,
    ...ownFields(error),
  };
  return {
    name: String(name),
    message: String(message),
    ...(typeof stack === 'string' ? { stack: shortened(stack, longestStack) } : {}),
    ...(Object.hasOwn(error, 'cause') ? { cause } : {}),
    ...(errors === undefined ? {} : { errors }),
    ...(Object.keys(others).length === 0 ? {} : { properties: others }),
  };
}

/** The error as an `Error` with its name, whatever its class was. */
function errorOf({ name, message, stack, properties, ...links }: ErrorFields): Error {
  const error = new Error(message);
  const hidden = { name, ...(stack === undefined ? {} : { stack }), ...links };
  delete error.stack;
  for (const [key, value] of Object.entries(hidden))
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
  for (const [key, value] of Object.entries(properties ?? {}))
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: true });
  return error;
}

function ownFields(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { errors } = error as { readonly errors?: unknown };
  return { name, message, stack, cause, errors };
}

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
