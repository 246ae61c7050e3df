import { type JsonObject, type JsonValue, preview } from '@hansard/events';
import type { ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';
import { isStorable } from '../json-lines/storable.ts';
import { asName } from '../values/json-fields.ts';
import { rawFields } from '../values/raw-value.ts';

interface RecordProblem {
  readonly code: ClaudeDiagnosticCode;
  readonly text: string;
  readonly raw: JsonObject;
}

/** Why a value cannot be mapped; undefined if it can. `record` is the value, if it is an object. */
export function problemOf(value: JsonValue, record: JsonObject | undefined): RecordProblem | undefined {
  if (!isStorable(value)) {
    const text = 'A value that nests too deep, or holds a number that is too large';
    return { code: 'wrong_value', text, raw: rawFields(printed(value)) };
  }
  if (record === undefined)
    return { code: 'not_an_object', text: 'A value that is not an object', raw: { raw: value } };
  if (asName(record.type) === undefined)
    return { code: 'unknown_kind', text: 'A record without a type', raw: { raw: value } };
  return undefined;
}

function printed(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch {
    return preview(value);
  }
}
