import * as z from 'zod/mini';
import { bytesIn, contentLabel } from '../content/content-label.ts';
import type { JsonObject, JsonValue } from '../json/json.ts';
import { eventKeys, otherFieldsOf, withoutOtherFields } from '../other-fields.ts';
import type { EventDataSchemas } from '../parse-event.ts';
import { shortened } from '../shortened.ts';
import { contentPartSchema, type MediaPart, outputPartSchema } from '../types/content-part.ts';
import type { NewEvent } from '../types/event.ts';
import {
  type KeptFields,
  mappedCategories,
  type NarrativeRules,
  narrativeRules,
  type Treatment,
} from './narrative-fields.ts';
import { isRedactionCounts, redactionsField } from './redaction-counts.ts';

/** Tags around text that Claude Code writes in the name of the user: shell commands, their output, contents of files. */
const marks = [
  'bash-input',
  'bash-stdout',
  'bash-stderr',
  'local-command-stdout',
  'local-command-stderr',
  'system-reminder',
];

const opening = new RegExp(`<(${marks.join('|')})>`, 'g');

const closing = new RegExp(`</(?:${marks.join('|')})>`, 'g');

/** The maximum length in characters of a line or a short text that a narrative keeps. */
export const longestLine = 200;
const mostFrames = 50;
/** The most characters of one observation that a narrative keeps. */
export const longestObservation = 2_000;

/** The field of an event's data that counts what a narrative omits: characters by the name of the field. */
const countField = 'leftOut';

/** The name of a field as the counts show it. Any other key may itself hold content. */
const namePattern = /^[A-Za-z_][\w.-]{0,63}$/;

type Narrowing = <E extends Pick<NewEvent, 'type' | 'data'>>(event: E) => E;

/**
 * The event of a mapping for a dispatch of `narrative` fidelity: the fields of `narrativeRules`, and in `leftOut` the number of characters
 * that are missing of each field. Fields beside the data that no event has are kept as in a type without a list. The counts of redaction stay. Returns the same object if nothing is left out. Idempotent.
 */
export const toNarrative: Narrowing = narrowBy(narrativeRules);

/**
 * `toNarrative` for what a program records. A type of its own is kept whole, unless the schema of the type names the fields that a
 * narrative keeps: `z.object({ … }).meta({ narrative: ['move', 'turn'] })`. Types without a list in the categories of mappings
 * keep their short fields.
 */
export function narrowWith(schemas: EventDataSchemas): Narrowing {
  const known = new Map<string, TypeNarrowing>();
  return (event) => {
    const { type, data } = event;
    const own = known.get(type) ?? narrowingOf(schemas, type);
    if (own === null) return event;
    // The types that nothing names have no end, so they are not kept.
    if (own.isNamed) known.set(type, own);
    // Nearly every event is kept whole.
    for (const key in data) {
      const treatment = own.fields.get(key);
      if (treatment === 'whole') continue;
      const value = data[key];
      if (treatment !== 'said' || typeof value !== 'string' || value.includes('<')) return own.narrow(event);
    }
    for (const key in event) if (!eventKeys.has(key)) return own.narrow(event);
    return event;
  };
}

/** How the events of one type are narrowed. */
interface TypeNarrowing {
  readonly isNamed: boolean;
  readonly fields: ReadonlyMap<string, Treatment>;
  readonly narrow: Narrowing;
}

/** Null: events of the type are kept whole. */
function narrowingOf(schemas: EventDataSchemas, type: string): TypeNarrowing | null {
  if (!isTypeOfProgram(type)) {
    const { fields } = ruleFor(narrativeRules, type);
    const isNamed =
      Object.hasOwn(narrativeRules.ofType, type) || Object.hasOwn(narrativeRules.ofCaptured, type);
    return { isNamed, fields: new Map(Object.entries(fields)), narrow: toNarrative };
  }
  const kept = keptBySchema(schemas, type);
  if (kept === null) return null;
  const list: KeptFields = { fields: Object.fromEntries(kept.map((name) => [name, 'whole'])) };
  const narrow = narrowBy({ ...narrativeRules, ofType: { [type]: list }, ofAll: {} });
  return { isNamed: true, fields: new Map(Object.entries(list.fields)), narrow };
}

/** Whether Hansard has no rule for a type, and no mapping makes such types. */
export function isTypeOfProgram(type: string): boolean {
  const { ofType, ofCaptured } = narrativeRules;
  if (Object.hasOwn(ofType, type) || Object.hasOwn(ofCaptured, type)) return false;
  return !mappedCategories.has(type.slice(0, type.indexOf(':')));
}

/** The fields that a registered schema names; null: it names none, so the event stays whole. */
function keptBySchema(schemas: EventDataSchemas, type: string): readonly string[] | null {
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return null;
  // The schema may be of another copy of zod, with a registry of its own.
  const { meta } = schema as { meta?(): Record<string, unknown> | undefined };
  const named = (meta?.call(schema) ?? z.globalRegistry.get(schema))?.narrative;
  return Array.isArray(named) ? named.map(String) : null;
}

/** The function that applies a rule of fidelity. */
export function narrowBy(rules: NarrativeRules): Narrowing {
  return (event) => {
    const { data } = event;
    const rule = ruleFor(rules, event.type);
    if (isKeptWhole(rule, data) && otherFieldsOf(event) === null) return event;
    const narrowed = new NarrowedData(rules, data);
    const kept: [string, JsonValue][] = [];
    for (const [key, value] of fieldsOf(data)) {
      if (key === countField && isCount(value)) continue;
      if (key === redactionsField && isRedactionCounts(value)) {
        kept.push([key, value]);
        continue;
      }
      const left = narrowed.field(rule, key, value);
      if (left !== undefined) kept.push([key, left]);
    }
    const others: [string, JsonValue][] = [];
    for (const [key, value] of fieldsOf(otherFieldsOf(event) ?? {})) {
      const left = narrowed.field(rules.ofOthers, key, value);
      if (left !== undefined) others.push([key, left]);
    }
    const { counts } = narrowed;
    if (counts === null) return event;
    const own = { ...withoutOtherFields(event), ...Object.fromEntries(others) };
    return { ...own, data: Object.fromEntries([...kept, [countField, counts]]) };
  };
}

/** The first line of a text that is not blank, shortened if it is long; undefined if there is none. */
export function firstLine(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd();
  return line === undefined ? undefined : shortened(line, longestLine);
}

type TextRule = (text: string) => string | undefined;

/** The data of one event, and what is missing of it. */
class NarrowedData {
  readonly #rules: NarrativeRules;
  readonly #data: JsonObject;
  readonly #missing = new Map<string, number>();

  constructor(rules: NarrativeRules, data: JsonObject) {
    this.#rules = rules;
    this.#data = data;
  }

  /** Null if nothing is missing. An event that was narrowed before keeps its counts, and adds to them. */
  get counts(): Record<string, number> | null {
    if (this.#missing.size === 0) return null;
    const before = this.#data[countField];
    const counts = isCount(before) ? { ...before } : {};
    for (const [name, characters] of this.#missing) counts[name] = (counts[name] ?? 0) + characters;
    return counts;
  }

  /** What is kept of a field of the data; undefined: nothing. */
  field({ fields, rest }: KeptFields, key: string, value: JsonValue): JsonValue | undefined {
    const { ofAll, contentFields } = this.#rules;
    const own = treatmentOf(fields, key) ?? (rest === undefined ? treatmentOf(ofAll, key) : undefined);
    const isKept = own !== undefined || (rest !== undefined && key !== countField && !contentFields.has(key));
    const left = isKept ? this.#treat(own ?? rest ?? 'short', key, value) : undefined;
    if (left === undefined) this.#omit(key === countField ? 'other' : key, sizeOf(value));
    return left;
  }

  /** A treatment that keeps nothing counts nothing. */
  #treat(treatment: Treatment, key: string, value: JsonValue): JsonValue | undefined {
    const isText = typeof value === 'string';
    switch (treatment) {
      case 'whole':
        return value;
      case 'delivery':
        return this.#data.on === 'delivery' ? value : undefined;
      case 'observed':
        return Array.isArray(value) ? this.#observed(key, value) : undefined;
      case 'attached':
        return Array.isArray(value) ? this.#attached(key, value) : undefined;
      case 'frames':
        return isText ? this.#counted(key, value, framesOf(value)) : undefined;
      case 'command':
        return isText && /^\s*<command-/.test(value)
          ? this.#counted(key, value, withoutCommandOutput(value))
          : undefined;
      case 'heard':
        return isText && isEngine(this.#data)
          ? this.#counted(key, value, firstLine(withoutCommandOutput(value)) ?? '')
          : this.#treat('said', key, value);
      case 'summary':
        return isText
          ? this.#counted(key, value, withoutQuotations(withoutCommandOutput(value)))
          : this.#short(key, value);
      case 'said':
        return isText ? this.#counted(key, value, withoutCommandOutput(value)) : this.#short(key, value);
      case 'line':
        return isText ? this.#counted(key, value, firstLine(value) ?? '') : this.#short(key, value);
      case 'lines':
        return this.#walk(key, value, false, (text) => firstLine(text) ?? '');
      case 'names':
        return this.#walk(key, value, true, shortText);
      default:
        return this.#short(key, value);
    }
  }

  #short(key: string, value: JsonValue): JsonValue | undefined {
    return this.#walk(key, value, this.#isOfEngine(key, value), shortText);
  }

  #attached(key: string, parts: JsonValue[]): JsonValue {
    return parts.flatMap((part) => {
      const { success, data } = contentPartSchema.safeParse(part);
      const kept = success && data.kind !== 'text' ? namedMedia(data) : null;
      if (JSON.stringify(kept) === JSON.stringify(part)) return [part];
      this.#omit(key, Math.max(1, sizeOf(part) - (kept === null ? 0 : sizeOf(kept))));
      return kept === null ? [] : [kept];
    });
  }

  #observed(key: string, parts: JsonValue[]): JsonValue {
    let room = longestObservation;
    return parts.flatMap((part) => {
      const kept = room > 0 ? keptPart(part, room) : null;
      if (kept === null) {
        this.#omit(key, sizeOf(part));
        return [];
      }
      const { text, isCut } = kept;
      room = isCut ? 0 : room - Math.max(1, text.length);
      if (JSON.stringify(kept.part) === JSON.stringify(part)) return [part];
      this.#omit(key, Math.max(1, sizeOf(part) - sizeOf(kept.part)));
      return [kept.part];
    });
  }

  /**
   * What `textOf` keeps of the texts in a value, at any depth; undefined if nothing is kept. Fields that hold content go
   * whatever their value. `isNamed`: texts and objects stay only in a field that names something.
   */
  #walk(key: string, value: JsonValue, isNamed: boolean, textOf: TextRule): JsonValue | undefined {
    const isOpen = !isNamed || this.#rules.namingFields.has(key);
    if (typeof value === 'string') {
      const text = isOpen ? textOf(value) : undefined;
      return text === undefined ? undefined : this.#counted(key, value, text);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (!isOpen && !this.#rules.objects.has(key)) return undefined;
    if (Array.isArray(value)) {
      let characters = 0;
      return value.flatMap((item) => {
        let left = this.#walk(key, item, isNamed, textOf);
        // A list of lines can be a file.
        if (typeof left === 'string') characters += left.length;
        if (typeof left === 'string' && characters > longestLine) left = undefined;
        if (left === undefined) this.#omit(key, sizeOf(item));
        return left === undefined ? [] : [left];
      });
    }
    const kept: [string, JsonValue][] = [];
    for (const [name, field] of fieldsOf(value)) {
      const isContent = name.length > longestLine || this.#rules.contentFields.has(name);
      const isOfEngine = isNamed || (textOf === shortText && this.#isOfEngine(name, field));
      const left = isContent ? undefined : this.#walk(name, field, isOfEngine, textOf);
      if (left === undefined) this.#omit(name, sizeOf(field));
      else kept.push([name, left]);
    }
    return Object.fromEntries(kept);
  }

  /** Whether a field holds an object of an engine, of which only names are kept. */
  #isOfEngine(key: string, value: JsonValue): boolean {
    return typeof value === 'object' && this.#rules.objects.has(key);
  }

  /** The kept text, after its missing characters are counted. */
  #counted(key: string, text: string, kept: string): string {
    if (kept !== text) this.#omit(key, Math.max(1, text.length - kept.length));
    return kept;
  }

  #omit(key: string, characters: number): void {
    const name = namePattern.test(key) ? key : 'other';
    this.#missing.set(name, (this.#missing.get(name) ?? 0) + characters);
  }
}

function ruleFor({ ofType, ofCaptured, ofOthers }: NarrativeRules, type: string): KeptFields {
  const known = Object.hasOwn(ofType, type) ? ofType[type] : undefined;
  return known ?? (Object.hasOwn(ofCaptured, type) ? ofCaptured[type] : undefined) ?? ofOthers;
}

function treatmentOf(fields: Readonly<Record<string, Treatment>>, key: string): Treatment | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** Whether data has only fields that are kept whole, or have nothing to leave out. False: only a treatment of each field knows. */
function isKeptWhole({ fields }: KeptFields, data: JsonObject): boolean {
  for (const key in data) {
    const treatment = treatmentOf(fields, key);
    if (treatment === 'whole') continue;
    const value = data[key];
    if (treatment !== 'said' || typeof value !== 'string' || value.includes('<')) return false;
  }
  return true;
}

/** A key whose value is undefined is absent. */
function fieldsOf(data: JsonObject): [string, JsonValue][] {
  return Object.entries(data).filter((field): field is [string, JsonValue] => field[1] !== undefined);
}

/** A text of one line that is short; undefined if it is another. */
function shortText(text: string): string | undefined {
  const kept = withoutCommandOutput(text);
  return kept.length > longestLine || /[\r\n]/.test(kept) ? undefined : kept;
}

/** What is kept of an observed part, and the text that counts. `isCut`: not all of its text. Null: it is not a part. */
function keptPart(
  part: JsonValue,
  room: number,
): { readonly part: JsonObject; readonly text: string; readonly isCut: boolean } | null {
  const { success, data } = outputPartSchema.safeParse(part);
  if (!success) return null;
  const cut = (kind: 'text' | 'repr', whole: string) => {
    const text = shortened(whole, room);
    return { part: kind === 'text' ? { kind, text } : { kind, repr: text }, text, isCut: text !== whole };
  };
  switch (data.kind) {
    case 'text':
      return cut('text', data.text);
    case 'repr':
      return cut('repr', data.repr);
    case 'image':
    case 'document':
    case 'audio':
      return { part: namedMedia(data), text: contentLabel(data), isCut: false };
    case 'json': {
      const text = JSON.stringify(data.json);
      return text.length <= room ? { part: data, text, isCut: false } : cut('repr', text);
    }
    case 'value': {
      const text = data.encoded;
      if (text.length <= room) return { part: data, text, isCut: false };
      return cut('repr', `[value of ${text.length} characters]`);
    }
  }
}

/** What names an image, a document or a sound, in the order of its keys. */
function namedMedia(part: MediaPart): JsonObject {
  const { kind, mediaType, sha256, size, isKept, name, url, base64 } = part;
  const bytes = size ?? (base64 === undefined ? undefined : bytesIn(base64));
  const kept: JsonObject = { kind };
  for (const [key, value] of Object.entries({ mediaType, sha256, size: bytes, isKept, name, url }))
    if (value !== undefined) kept[key] = typeof value === 'string' ? (firstLine(value) ?? '') : value;
  return kept;
}

/** Whether the engine or a hook wrote a message, and nobody that takes part. */
function isEngine({ source }: JsonObject): boolean {
  return typeof source === 'object' && source !== null && !Array.isArray(source) && source.kind === 'system';
}

/** What stands for left-out lines of a quotation. */
const leftOutLines = '[…]';

/** A text whose blocks of code and quotations have together at most 200 characters. Of a longer one the first lines stay. */
function withoutQuotations(text: string): string {
  let [room, fence, isCut] = [longestLine, '', false];
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const mark = /^[\s>]*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const isEdge = mark !== '' && (fence === '' || (mark.startsWith(fence) && line.trim().endsWith(mark)));
    if (isEdge) fence = fence === '' ? mark : '';
    const isQuoted = !isEdge && (fence !== '' || /^\s*>/.test(line)) && line.trim() !== leftOutLines;
    if (isQuoted && line.length > room) {
      if (!isCut) kept.push(leftOutLines);
      [room, isCut] = [0, true];
      continue;
    }
    if (isQuoted) room -= line.length;
    else isCut = false;
    kept.push(isEdge ? shortened(line, longestLine) : line);
  }
  return kept.join('\n');
}

function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s*at /.test(line) && line.length <= longestLine);
  return frames.slice(0, mostFrames).join('\n');
}

function sizeOf(value: JsonValue): number {
  return typeof value === 'string' ? value.length : JSON.stringify(value).length;
}

function isCount(value: JsonValue | undefined): value is Record<string, number> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([key, count]) => namePattern.test(key) && Number.isSafeInteger(count) && (count as number) >= 0,
  );
}

/**
 * Removes the text between such tags and keeps the tags. The text may hold tags itself, so everything from the first
 * opening tag to the last closing tag is removed; without a closing tag, everything to the end.
 */
function withoutCommandOutput(text: string): string {
  if (!text.includes('<')) return text;
  const opened = [...text.matchAll(opening)];
  const [first] = opened;
  if (first === undefined) return text;
  const last = [...text.matchAll(closing)].at(-1);
  const isClosed = last !== undefined && last.index > first.index;
  const end = isClosed ? last.index + last[0].length : text.length;
  const names = [...new Set(opened.filter(({ index }) => index < end).map(([, name]) => name))];
  const emptied = names.map((name) => `<${name}></${name}>`).join('');
  return `${text.slice(0, first.index)}${emptied}${text.slice(end)}`;
}
