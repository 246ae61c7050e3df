import type { JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';
import { fitColumns } from '../text/columns.ts';

const longest = 400;
const deepest = 2;
const longestList = 5;

/** References of an engine to its own records, which lead a reader nowhere. */
const reference = /uuid$|^session_?id$|tool_?use_?id$/i;

/** What each record of a transcript has beside its own fields. */
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
 * What an engine told, as `state running, attempt 1`: the fields of nested objects beside the others, short lists, the
 * length of long ones; without its bookkeeping and without what is empty. The event has all of it.
 */
export function recordInWords(record: JsonObject): string {
  const own =
    'parentUuid' in record
      ? Object.fromEntries(Object.entries(record).filter(([key]) => !ofEveryRecord.has(key)))
      : record;
  // A nested object may say again what stands beside it.
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
