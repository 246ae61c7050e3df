import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts';
import type { ContentPart, MediaPart } from '../types/content-part.ts';
import type { EventData, NewEvent } from '../types/event.ts';
import { base64Of, bytesOfBase64, digestOf } from './digest.ts';

/** The bytes of one part that a log keeps unless set otherwise. */
export const longestContent = 16 * 1024 * 1024;

/** An event whose bytes were moved out of it. */
interface SeparatedContent<E extends NewEvent = NewEvent> {
  readonly event: E;
  /** The `content:stored` events that precede it, each once. */
  readonly contents: readonly StoredContent[];
}

/** The bytes as an event: its id is their digest, and it has no time, so the same bytes are the same event. */
type StoredContent = NewEvent & {
  readonly type: 'content:stored';
  readonly data: EventData<'content:stored'>;
};

/** The fields that can hold bytes, by type. `replay` is not among them: a model or an engine gets it back unchanged. */
const fieldsWithContent: Readonly<Record<string, readonly string[]>> = {
  'user:message': ['parts', 'details'],
  'agent:undelivered': ['parts', 'details'],
  'agent:given': ['parts', 'output', 'details'],
  'agent:tool_result': ['output', 'details'],
  'agent:output': ['parts', 'details'],
};
/** The categories in which mappings capture what has no type of its own, such as `system:attachment`. */
const capturedTypes = /^(?:system|user):/;
/** A shorter `base64` without a type can be a word. */
const shortestFile = 256;
const none: readonly StoredContent[] = [];

/**
 * Moves the bytes of images, documents and sounds out of an event. Each becomes a part (`MediaPart`) with its digest, wherever it stands
 * in the fields above, and a `content:stored` event. Uint8Array that are text become a text part. Parts are recognized in the forms of Hansard (`base64`),
 * the Anthropic API, MCP, OpenAI and the AI SDK; what is not Base64 stays. Of bytes above `limit` the digest, type and size stay.
 * An event without bytes is returned itself.
 */
export function separateContent<E extends NewEvent>(event: E, limit = longestContent): SeparatedContent<E> {
  const { type, data } = event;
  const fields = Object.hasOwn(fieldsWithContent, type) ? fieldsWithContent[type] : undefined;
  if (fields === undefined && !capturedTypes.test(type)) return { event, contents: none };
  let separation: Separation | null = null;
  let changed: JsonObject | null = null;
  for (const key of fields ?? Object.keys(data)) {
    const value = data[key];
    if (value === undefined || (typeof value === 'string' && !isAddress(value))) continue;
    separation ??= new Separation(limit);
    const moved = separation.value(value);
    if (moved !== value) changed = { ...(changed ?? data), [key]: moved };
  }
  if (separation === null || changed === null) return { event, contents: none };
  return { event: { ...event, data: changed }, contents: [...separation.contents.values()] };
}

/** Whether a text can be an address that holds its bytes. */
function isAddress(text: string): boolean {
  return text.startsWith('data:');
}

class Separation {
  readonly contents = new Map<string, StoredContent>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The same value if it holds no bytes. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#address(value) ?? value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let items: JsonValue[] | null = null;
      for (let index = 0; index < value.length; index += 1) {
        const item = value[index] as JsonValue;
        const moved = this.value(item);
        if (moved === item) continue;
        items ??= [...value];
        items[index] = moved;
      }
      return items ?? value;
    }
    if (!isPlainObject(value)) return value;
    const part = this.#part(value);
    if (part !== null) return part;
    let changed: JsonObject | null = null;
    for (const key in value) {
      const item = value[key];
      const moved = item === undefined ? item : this.value(item);
      if (moved !== item) changed = { ...(changed ?? value), [key]: moved };
    }
    return changed ?? value;
  }

  /** An address that holds its bytes. */
  #address(text: string): JsonObject | null {
    if (!isAddress(text)) return null;
    const { base64, mediaType = '' } = addressed(text);
    return base64 === undefined ? null : this.#given({ kind: kindOf(mediaType), mediaType, base64 });
  }

  #part(value: JsonObject): JsonObject | null {
    const given = givenContent(value);
    return given === null ? null : this.#given(given);
  }

  #given(given: GivenContent): JsonObject | null {
    const { kind, text, base64, ...facts } = given;
    const { mediaType } = facts;
    if (text !== undefined) return defined({ kind: 'text', text, ...facts });
    if (base64 === undefined) return defined({ kind, ...facts });
    const bytes = bytesOf(base64);
    if (bytes === null) return null;
    const read = kind === 'document' && isTextType(mediaType) ? textOf(bytes) : null;
    if (read !== null) return defined({ kind: 'text', text: read, ...facts });
    const sha256 = digestOf(bytes);
    const size = bytes.length;
    const isKept = size <= this.#limit;
    if (isKept && !this.contents.has(sha256)) this.contents.set(sha256, storedContent(sha256, bytes, base64));
    const { name, url, details } = facts;
    return defined({ kind, mediaType, sha256, size, isKept: isKept ? undefined : false, name, url, details });
  }
}

/** `given`: the bytes as the source writes them. */
function storedContent(sha256: string, bytes: Uint8Array, given: string): StoredContent {
  const base64 = isUsualBase64(given, bytes) ? given : base64Of(bytes);
  const data = { sha256, size: bytes.length, base64 };
  return { id: sha256, type: 'content:stored', timestamp: null, data };
}

/** Content as a source gives it: its bytes, its text, or only where it is. */
interface GivenContent {
  readonly kind: ContentPart['kind'];
  readonly mediaType?: string | undefined;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly details?: JsonObject | undefined;
}

/** The types of parts with bytes, in all forms. */
const typesWithContent: ReadonlySet<unknown> = new Set([
  ...['image', 'document', 'audio', 'media', 'image-data', 'file-data', 'resource'],
  ...['image_url', 'input_image', 'input_audio', 'input_file', 'file'],
]);

/** Null: the value is not content, or was separated before. */
function givenContent(value: JsonObject): GivenContent | null {
  const { kind, type, source } = value;
  // Nearly every object: the forms below copy fields before they decide.
  if (value.base64 === undefined && !typesWithContent.has(type)) return null;
  if (isMediaKind(kind)) return typeof value.base64 === 'string' ? ownPart(value, kind) : null;
  if ((type === 'image' || type === 'document') && isPlainObject(source))
    return anthropicBlock(value, type, source as JsonObject);
  return mcpBlock(value) ?? addressedBlock(value) ?? capturedFile(value);
}

function ownPart(value: JsonObject, kind: MediaPart['kind']): GivenContent {
  const { mediaType, base64, name, url, details } = value as unknown as MediaPart;
  return { kind, mediaType, base64, name, url, details };
}

/** A block of the Anthropic API, with its source in Base64, as text, or named. */
function anthropicBlock(
  block: JsonObject,
  kind: 'image' | 'document',
  source: JsonObject,
): GivenContent | null {
  const { type: _, source: __, title, ...others } = block;
  const { type, media_type: mediaType, data, url, ...rest } = source;
  const details = { ...others, ...(isEmpty(rest) ? {} : { source: rest }) };
  const facts = { kind, mediaType: asText(mediaType), name: asText(title), details };
  if (type === 'base64' && typeof data === 'string') return { ...facts, base64: data };
  if (type === 'text' && typeof data === 'string') return { ...facts, kind: 'text', text: data };
  if (type === 'url' && typeof url === 'string') return { ...facts, ...addressed(url) };
  return type === 'file' ? { ...facts, details: { ...details, source } } : null;
}

/** A block of MCP, pi or the AI SDK: `data` and `mimeType` or `mediaType`, or a resource with a `blob`. */
function mcpBlock(block: JsonObject): GivenContent | null {
  const { type, data, resource, mimeType, mediaType = mimeType, filename, ...others } = block;
  const isMedia = type === 'image' || type === 'audio' || type === 'media' || type === 'image-data';
  if ((isMedia || type === 'file-data') && typeof data === 'string' && typeof mediaType === 'string')
    return { kind: kindOf(mediaType), mediaType, base64: data, name: asText(filename), details: others };
  if (type !== 'resource' || !isPlainObject(resource)) return null;
  const { blob, uri, mimeType: ofResource, ...rest } = resource as JsonObject;
  if (typeof blob !== 'string') return null;
  const named = typeof ofResource === 'string' ? ofResource : undefined;
  const details = { ...others, ...(isEmpty(rest) ? {} : { resource: rest }) };
  return { kind: kindOf(named ?? ''), mediaType: named, base64: blob, name: asText(uri), details };
}

/** A part of the OpenAI API: an address, which can hold the bytes, or a sound with its format. */
function addressedBlock(block: JsonObject): GivenContent | null {
  const { type, ...fields } = block;
  if (type === 'image_url' || type === 'input_image') {
    const { image_url: image, ...others } = fields;
    const { url, ...rest } = isPlainObject(image) ? (image as JsonObject) : { url: image };
    if (typeof url !== 'string') return null;
    return { kind: 'image', ...addressed(url), details: { ...others, ...rest } };
  }
  if (type === 'input_audio' && isPlainObject(fields.input_audio)) {
    const { data, format, ...rest } = fields.input_audio as JsonObject;
    if (typeof data !== 'string') return null;
    return { kind: 'audio', mediaType: `audio/${asText(format) ?? 'wav'}`, base64: data, details: rest };
  }
  if (type !== 'input_file' && type !== 'file') return null;
  const file = isPlainObject(fields.file) ? (fields.file as JsonObject) : fields;
  const { file_data: data, filename, ...rest } = file;
  if (typeof data !== 'string') return null;
  const found = addressed(data);
  if (found.base64 === undefined) return null;
  return { kind: kindOf(found.mediaType ?? ''), ...found, name: asText(filename), details: rest };
}

/** A file as Claude Code reads it: `base64`, and its type. */
function capturedFile({ base64, type, ...others }: JsonObject): GivenContent | null {
  if (typeof base64 !== 'string') return null;
  if (typeof type === 'string' && type.includes('/'))
    return { kind: kindOf(type), mediaType: type, base64, details: others };
  const details = type === undefined ? others : { type, ...others };
  return base64.length < shortestFile ? null : { kind: 'document', base64, details };
}

function addressed(url: string): Pick<GivenContent, 'mediaType' | 'base64' | 'url'> {
  const head = /^data:([^;,]{0,200})(?:;[^,]{0,200})?;base64,/.exec(url);
  if (head === null) return { url };
  return { ...(head[1] ? { mediaType: head[1] } : {}), base64: url.slice(head[0].length) };
}

/** Null: the text is not Base64, in any of its two alphabets. */
function bytesOf(base64: string): Uint8Array | null {
  const digits = base64.trimEnd();
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
  if (/[^A-Za-z0-9+/_\s-]/.test(digits.slice(0, digits.length - padding))) return null;
  return bytesOfBase64(base64);
}

/** Whether a text is what an encoder makes of bytes. The last digits can be written in several ways. */
function isUsualBase64(text: string, bytes: Uint8Array): boolean {
  const rest = bytes.length % 3 === 0 ? 3 : bytes.length % 3;
  const last = base64Of(bytes.subarray(bytes.length - rest));
  return text.length === 4 * Math.ceil(bytes.length / 3) && text.endsWith(last) && !/[-_\s]/.test(text);
}

function isTextType(mediaType = ''): boolean {
  return /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|toml)\b)/i.test(mediaType);
}

/** Null: the bytes are not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function kindOf(mediaType: string): MediaPart['kind'] {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'document';
}

function isMediaKind(value: JsonValue | undefined): value is MediaPart['kind'] {
  return value === 'image' || value === 'document' || value === 'audio';
}

function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isEmpty(fields: JsonObject): boolean {
  return Object.keys(fields).length === 0;
}

/** Without keys that are undefined, and without empty details. */
function defined(part: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept = Object.entries(part).filter(
    ([key, value]) => value !== undefined && !(key === 'details' && isEmpty(value as JsonObject)),
  );
  return Object.fromEntries(kept) as JsonObject;
}

/** A part of a request as an event: its id is the digest of its data, and it has no time, so the same part is the same event. */
export type StoredRequest = NewEvent & {
  readonly id: string;
  readonly type: 'request:stored';
  readonly data: EventData<'request:stored'>;
};

/**
 * The event of tools or parameters. Null: there are none. What JSON does not have is left out. Two parts that differ
 * only in the order of keys have the same id.
 *
 * @throws TypeError if the part has a cycle or a BigInt
 */
export function storedRequest(
  part: { readonly tools: readonly object[] } | { readonly parameters: object },
): StoredRequest | null {
  const data = JSON.parse(JSON.stringify(part)) as EventData<'request:stored'>;
  const { tools = [], parameters = {} } = data;
  if (tools.length === 0 && Object.keys(parameters).length === 0) return null;
  const text = JSON.stringify(sorted(data as JsonObject));
  const digest = digestOf(new TextEncoder().encode(text));
  return { id: `sha256:${digest}`, type: 'request:stored', timestamp: null, data };
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item ?? null)]));
}
