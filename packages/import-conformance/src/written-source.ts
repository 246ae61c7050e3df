import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';

/** One record of a random source. */
export interface WrittenRecord {
  /** The file that it stands in, as a path below the folder of the source. The first record is in the main file. */
  readonly file: string;
  /** One line of JSON, without the line end. */
  readonly text: string;
  /**
   * Of the first record of a file: how the records of the file make its text. The file is then a document, which is written again as a whole with
   * each record. Bytes are a database with a row for each record. Absent: each record is a line.
   */
  readonly layout?: (texts: readonly string[]) => string | Uint8Array;
}

/** Whether a source has documents, which are written again as a whole. */
export function isRewritten(records: readonly WrittenRecord[]): boolean {
  return records.some(({ layout }) => layout !== undefined);
}

/** The object of a record; null if it is none. */
export function objectOf({ text }: WrittenRecord): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

export function namesOf(records: readonly WrittenRecord[]): string[] {
  return [...new Set(records.map(({ file }) => file))];
}

/** The bytes of each file after the first bytes of what was written. A document has the records that are whole. */
export function filesAfter(records: readonly WrittenRecord[], bytes = Infinity): Map<string, Buffer> {
  const layouts = new Map(
    records.flatMap(({ file, layout }) => (layout === undefined ? [] : [[file, layout]])),
  );
  const files = new Map<string, Buffer[]>();
  let left = bytes;
  for (const { file, text } of records) {
    if (left <= 0) break;
    const line = Buffer.from(`${text}\n`);
    const isLost = layouts.has(file) && line.length > left;
    if (!isLost) files.set(file, [...(files.get(file) ?? []), line.subarray(0, left)]);
    left -= line.length;
  }
  return new Map(
    [...files].map(([name, parts]) => {
      const texts = parts.map((part) => part.toString().slice(0, -1));
      return [name, layouts.has(name) ? Buffer.from(layouts.get(name)?.(texts) ?? '') : Buffer.concat(parts)];
    }),
  );
}

export function bytesOfAll(records: readonly WrittenRecord[]): number {
  return records.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
}

/** A folder for one source, with a folder above it that does not belong to the source. */
export class SourceFolder implements Disposable {
  readonly above = mkdtempSync(join(tmpdir(), 'hansard-importer-'));
  readonly path = join(this.above, 'source');

  constructor() {
    mkdirSync(this.path);
  }

  put(files: ReadonlyMap<string, Buffer>, time = 1_700_000_000): void {
    for (const [name, content] of files) {
      const path = join(this.path, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      utimesSync(path, time, time);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.above, { recursive: true, force: true });
  }
}

/** A place in a record: the keys that lead to it. */
export type Place = readonly (string | number)[];

/** The places of all values in a record, from the outside in. */
export function placesIn(value: JsonValue, place: Place = []): Place[] {
  const inner: (readonly [string | number, JsonValue])[] = Array.isArray(value)
    ? value.map((item, at) => [at, item] as const)
    : isPlainObject(value)
      ? Object.entries(value).map(([key, item]) => [key, item as JsonValue] as const)
      : [];
  return inner.flatMap(([key, item]) => [[...place, key], ...placesIn(item, [...place, key])]);
}

export function valueAt(value: JsonValue, place: Place): JsonValue {
  return place.reduce<JsonValue>((at, key) => (at as Record<string | number, JsonValue>)[key] ?? null, value);
}

/** A copy of a record with another value at a place. */
export function withValue(value: JsonValue, [key, ...rest]: Place, other: JsonValue): JsonValue {
  if (key === undefined) return other;
  const inner = valueAt(value, [key]);
  const changed = withValue(inner, rest, other);
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? changed : item));
  const object = (value ?? {}) as JsonObject;
  return Object.fromEntries(
    Object.keys({ ...object, [key]: null }).map((name) => [
      name,
      name === String(key) ? changed : (object[name] ?? null),
    ]),
  );
}
