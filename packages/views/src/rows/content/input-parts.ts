import type { EventData, JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';
import type { RowPart } from '../row.ts';
import { lineDiff } from './line-diff.ts';

const code = /^(?:command|cmd|code|script|source|query|sql|pattern|content|patch|new_source|stdin)$/i;
const prose = /^(?:prompt|message|text|body|plan|question|instructions|description|summary|reason)$/i;

/** A longer value gets lines of its own. */
const longestField = 60;

/**
 * The input of a call, whole: edits as differences, long texts on lines of their own, short values as fields. What the head of
 * the row shows, a target of one line, is not repeated.
 */
export function inputParts({ input, metadata, target }: EventData<'agent:tool_call'>): RowPart[] {
  const shown = isOneLine(target) ? target : undefined;
  const parts = partsOf(input ?? (metadata as JsonObject), shown);
  const hasTarget =
    target === undefined ||
    target === shown ||
    parts.some((part) => part.kind === 'text' && part.text === target);
  return hasTarget ? parts : [{ kind: 'text', text: target, style: 'code' }, ...parts];
}

/** Whether the target of a call fits the head of its row. */
export function isOneLine(target: string | undefined): target is string {
  return target !== undefined && !target.includes('\n');
}

function partsOf(input: JsonValue, shown: string | undefined): RowPart[] {
  if (isPlainObject(input)) return objectParts(input as JsonObject, shown);
  if (typeof input !== 'string') return [{ kind: 'json', value: input }];
  return input === shown ? [] : [{ kind: 'text', text: input, style: 'code' }];
}

/** The fields of an object: the short ones together first, then each long one. A text equal to `shown` is left out. */
export function objectParts(object: JsonObject, shown?: string): RowPart[] {
  const fields: [string, string][] = [];
  const parts: RowPart[] = [];
  const { old_string: before, new_string: after, ...others } = object;
  const isEdit = typeof before === 'string' && typeof after === 'string';
  if (isEdit) parts.push({ kind: 'diff', lines: lineDiff(before, after) });
  for (const [name, value] of Object.entries(isEdit ? others : object)) {
    if (value === undefined) continue;
    if (typeof value === 'string') {
      if (value === shown) continue;
      if (isShort(value)) fields.push([name, value]);
      else parts.push({ kind: 'text', label: name, text: value, style: styleOf(name) });
    } else if (name === 'edits' && isListOfEdits(value)) parts.push(...value.flatMap(editParts));
    else if (typeof value !== 'object' || value === null) fields.push([name, String(value)]);
    else parts.push({ kind: 'json', label: name, value });
  }
  return fields.length === 0 ? parts : [{ kind: 'fields', fields }, ...parts];
}

function isShort(value: string): boolean {
  return value.length <= longestField && !value.includes('\n');
}

function styleOf(name: string): 'plain' | 'markdown' | 'code' {
  return code.test(name) ? 'code' : prose.test(name) ? 'markdown' : 'plain';
}

function isListOfEdits(value: JsonValue): value is JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (edit) =>
        isPlainObject(edit) && typeof edit.old_string === 'string' && typeof edit.new_string === 'string',
    )
  );
}

function editParts(edit: JsonObject, index: number, edits: readonly JsonObject[]): RowPart[] {
  const parts = objectParts(edit);
  if (edits.length === 1) return parts;
  const label = `edit ${index + 1} of ${edits.length}`;
  return parts.map((part) => (part.kind === 'diff' ? { ...part, label } : part));
}
