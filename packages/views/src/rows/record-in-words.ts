import type { JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';
import { fitColumns } from '../text/columns.ts';

const longest = 400;
const deepest = 2;
const longestList = 5;

/** References of an engine to its own records, which mean nothing to a reader. */
const reference = /uuid$|^session_?id$|tool_?use_?id$/i;

/** The fields that every record of a transcript has. */
const ofEveryRecord: ReadonlySet<string> = new Set([
  'isSidechain',
  'isMeta',
  'userType',
  'entrypoint',
  'cwd',
  'version',
  'gitBranch',
  'slug',
]);

/**
 * A record of an engine as `state running, attempt 1`, at most 400 columns: its fields and those of nested objects, short
 * lists in full, the length of longer ones. Bookkeeping and empty fields are left out; the event has them.
 */
export function recordInWords(record: JsonObject): string {
  const own =
    'parentUuid' in record
      ? Object.fromEntries(Object.entries(record).filter(([key]) => !ofEveryRecord.has(key)))
      : record;
  // A nested object can repeat fields of the object around it.
  return fitColumns([...new Set(fieldsOf(own, 0))].join(', '), longest);
}

function fieldsOf(record: JsonObject, depth: number): string[] {
  return Object.entries(record).flatMap(([key, value]) => {
    if (value === undefined || value === null || value === '' || reference.test(key)) return [];
    if (isPlainObject(value)) return depth < deepest ? fieldsOf(value as JsonObject, depth + 1) : `${key} …`;
    return `${key} ${Array.isArray(value) ? listInWords(value) : String(value)}`;
  });
}

function listInWords(list: readonly JsonValue[]): string {
  const isShort = list.length > 0 && list.length <= longestList;
  return isShort && list.every(isWord) ? list.join(' ') : String(list.length);
}

function isWord(value: JsonValue): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
