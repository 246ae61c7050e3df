import type { JsonObject } from '@hansard/events';
import { asList, asObject, asText, withoutUndefined } from '../values/json-fields.ts';

/** The maximum length in characters of a text that is built to determine a size. */
const longestContent = 100_000_000;

/** Sizes in bytes of UTF-8 of a file before and after a tool changed it, if the result of the tool has them. */
export function fileSizes(output: JsonObject | undefined): JsonObject {
  if (output === undefined) return {};
  const before = contentBefore(output);
  const after = contentAfter(output, before);
  return withoutUndefined({ sizeBefore: bytesOf(before), sizeAfter: bytesOf(after) });
}

function contentBefore(output: JsonObject): string | undefined {
  const original = output.originalFile ?? output.originalFileContents ?? output.original_file;
  if (typeof original === 'string') return original;
  const isNew = output.type === 'create' || output.oldString === '';
  return isNew ? '' : undefined;
}

function contentAfter(output: JsonObject, before: string | undefined): string | undefined {
  if (typeof output.updated_file === 'string') return output.updated_file;
  if (typeof output.content === 'string') return output.content;
  const edits = asList(output.edits)?.map((edit) => asObject(edit) ?? {}) ?? [
    { old_string: output.oldString, new_string: output.newString, replace_all: output.replaceAll },
  ];
  return edits.reduce<string | undefined>(applyEdit, before);
}

function applyEdit(content: string | undefined, edit: JsonObject): string | undefined {
  const from = asText(edit.old_string);
  const to = asText(edit.new_string);
  if (content === undefined || from === undefined || to === undefined) return undefined;
  if (from === '') return content === '' ? to : undefined;
  // A text that does not occur was matched in another way (quotes, spaces), so its length in the file is unknown.
  if (!content.includes(from)) return undefined;
  if (edit.replace_all !== true) return content.replace(from, () => to);
  const mostHits = content.length / from.length;
  if (mostHits * to.length > longestContent) return undefined;
  return content.replaceAll(from, () => to);
}

function bytesOf(content: string | undefined): number | undefined {
  return content === undefined ? undefined : Buffer.byteLength(content, 'utf8');
}
