import type { EventData, JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject } from '@hansard/events/plain';
import { diffLines } from 'diff';
import type { DiffLine, RowPart } from '../row.ts';

/** The largest number of differing lines. With more, the comparison takes very long and says little. */
const mostEdits = 1_000;

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

/** An edit, line by line: the removed and the same lines are the old text, the added and the same ones the new text. */
function lineDiff(before: string, after: string): DiffLine[] {
  // Every line ends in a line break here, so that a last line without one is compared like the others.
  const changes =
    before === '' || after === ''
      ? undefined
      : diffLines(`${before}\n`, `${after}\n`, { maxEditLength: mostEdits });
  if (changes === undefined) return [...linesOf('removed', before), ...linesOf('added', after)];
  return changes.flatMap(({ added, removed, value }) =>
    linesOf(removed ? 'removed' : added ? 'added' : 'same', value.slice(0, -1), true),
  );
}

function linesOf(kind: DiffLine['kind'], text: string, isPiece = false): DiffLine[] {
  return text === '' && !isPiece ? [] : text.split('\n').map((line) => ({ kind, text: line }));
}
