import type { JsonObject, JsonValue } from '@hansard/events';
import { fitColumns } from './columns.ts';

const longest = 400;

/** A value as one line of JSON, cut at 400 columns. */
export function compactJson(value: JsonValue): string {
  return fitColumns(JSON.stringify(value), longest);
}

/** The fields of an object as `exitCode 0, lines 12`, without empty fields and those whose value is `except`. */
export function fieldsInWords(fields: JsonObject, except?: string): string {
  return Object.entries(fields)
    .flatMap(([key, value]) =>
      value === undefined || value === null || value === '' || value === except
        ? []
        : [`${key} ${typeof value === 'string' ? value : compactJson(value)}`],
    )
    .join(', ');
}
