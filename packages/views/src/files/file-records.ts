import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';

/** What one event records of one file: how it changed, or what its content was. */
export interface FileRecord {
  /** As the event names it. */
  readonly path: string;
  /** The path before the change, if that renamed the file. */
  readonly from: string | null;
  /** The content before. Null: there was no file. Absent: not recorded. */
  readonly before?: string | null;
  /** The content after, where the event states it. Null: the file was deleted. */
  readonly after?: string | null;
  /** The texts that were replaced, in this order. */
  readonly replaced: readonly Replacement[];
  /** The lines that changed, as the tool reports them. Null: it does not. */
  readonly hunks: readonly Hunk[] | null;
  /** Whether the lines of `hunks` are those of the file. Otherwise a tab at the start of a line can be two spaces. */
  readonly isExact: boolean;
  /** Whether the file was only read: `after` is its content, which somebody else wrote. */
  readonly isSeen: boolean;
  /** Whether a person changed the edit before it was made. */
  readonly isMixed: boolean;
}

export interface Replacement {
  readonly from: string;
  readonly to: string;
  readonly isAll: boolean;
}

/** A piece of a patch: numbers of lines from 1, and lines that begin with a space, `-` or `+`. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

/** The tools of Claude Code that change a file. */
const editors: ReadonlySet<unknown> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

const nothing = {
  from: null,
  replaced: [],
  hunks: null,
  isExact: false,
  isSeen: false,
  isMixed: false,
} as const;

/**
 * What an event records about files: `changes` of a tool result, the updates that Codex states as differences, or the
 * results of Claude Code tools that edit or read a file. A result of another tool is read as well if it has the patch
 * of an edit. A call that failed changed nothing.
 */
export function fileRecordsOf(event: CapturedEvent): readonly FileRecord[] {
  if (event.type !== 'agent:tool_result') return [];
  const { status, changes, details, metadata, tool } = event.data;
  if (status !== 'completed') return [];
  const updates = isPlainObject(details) ? updatesIn(details.changes as JsonValue | undefined) : [];
  if (Array.isArray(changes)) return [...changes.flatMap(changeIn), ...updates];
  if (!isPlainObject(details) || updates.length > 0) return updates;
  const { toolUseResult, tool_use_result } = details;
  const output = (toolUseResult ?? tool_use_result) as JsonValue | undefined;
  if (!isPlainObject(output)) return [];
  if (isPlainObject(output.file) && (tool === 'Read' || output.type === 'text')) return seenIn(output.file);
  // Results of other tools, such as a search, also have a path and a content.
  const isEdit = editors.has(tool) || Array.isArray(output.structuredPatch);
  const fallback = isPlainObject(metadata) ? textIn(metadata.path) : undefined;
  return isEdit ? recordIn(output as JsonObject, fallback) : [];
}

/** The path of a file that an event of a narrative says that it changed; its contents are not recorded. */
export function changedWithoutContents(event: CapturedEvent): string | null {
  if (!isReadableAs(event, 'agent:tool_result') || event.data.status !== 'completed') return null;
  const { path, sizeAfter } = event.data.metadata as JsonObject;
  return typeof path === 'string' && sizeAfter !== undefined ? path : null;
}

function changeIn(change: JsonValue): FileRecord[] {
  const { path, from, before, after, mixed } = objectOf(change);
  if (typeof path !== 'string') return [];
  return [
    {
      ...nothing,
      path,
      from: textIn(from) ?? null,
      ...contentIn('before', before),
      ...contentIn('after', after),
      isMixed: mixed === true,
    },
  ];
}

/** The updates of a patch of Codex, by path. */
function updatesIn(changes: JsonValue | undefined): FileRecord[] {
  if (!isPlainObject(changes)) return [];
  return Object.entries(changes as JsonObject).flatMap(([name, change]) => {
    const { type, unified_diff: diff, move_path: moved } = objectOf(change ?? null);
    const hunks = type === 'update' && typeof diff === 'string' ? hunksOfDiff(diff) : null;
    if (hunks === null) return [];
    const path = textIn(moved) ?? name;
    return [{ ...nothing, path, from: path === name ? null : name, hunks, isExact: true }];
  });
}

const hunkStart = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The hunks of a unified difference. Null: the text is not such a difference. */
function hunksOfDiff(diff: string): readonly Hunk[] | null {
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [start, oldStart, newStart] = hunkStart.exec(line) ?? [];
    if (start !== undefined)
      hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), lines: [] });
    else if (/^[ +-]/.test(line) && hunks.length > 0) hunks.at(-1)?.lines.push(line);
    else if (!line.startsWith('\\') && diff !== '') return null;
  }
  return hunks;
}

function recordIn(output: JsonObject, fallback: string | undefined): FileRecord[] {
  const { structuredPatch, userModified } = output;
  const path = textIn(output.filePath) ?? textIn(output.notebook_path) ?? fallback;
  if (path === undefined) return [];
  const original = output.originalFile ?? output.originalFileContents ?? output.original_file;
  const after = textIn(output.updated_file) ?? textIn(output.content);
  const replaced = after === undefined ? replacementsIn(output) : [];
  const hunks = hunksIn(structuredPatch);
  if (after === undefined && replaced.length === 0 && hunks === null) return [];
  const isNew = (original ?? null) === null && (output.type === 'create' || output.oldString === '');
  return [
    {
      ...nothing,
      path,
      ...(isNew ? { before: null } : contentIn('before', original ?? undefined)),
      ...contentIn('after', after),
      replaced,
      hunks,
      isMixed: userModified === true,
    },
  ];
}

/** The content of a file that was read as a whole. */
function seenIn(file: JsonValue | undefined): FileRecord[] {
  if (!isPlainObject(file)) return [];
  const { filePath, content, startLine, numLines, totalLines } = file as JsonObject;
  const isWhole = startLine === 1 && typeof numLines === 'number' && numLines === totalLines;
  if (!isWhole || typeof filePath !== 'string' || typeof content !== 'string') return [];
  return [{ ...nothing, path: filePath, after: content, isSeen: true }];
}

function replacementsIn({ edits, oldString, newString, replaceAll }: JsonObject): Replacement[] {
  const given = Array.isArray(edits)
    ? edits.map(objectOf)
    : [{ old_string: oldString, new_string: newString, replace_all: replaceAll }];
  const replaced = given.map(({ old_string: from, new_string: to, replace_all: all }) => ({
    from,
    to,
    isAll: all === true,
  }));
  const isKnown = (one: (typeof replaced)[number]): one is typeof one & Replacement =>
    typeof one.from === 'string' && typeof one.to === 'string';
  return replaced.every(isKnown) ? replaced : [];
}

function hunksIn(patch: JsonValue | undefined): readonly Hunk[] | null {
  if (!Array.isArray(patch)) return null;
  const hunks = patch.map(objectOf).flatMap(({ oldStart, newStart, lines }) => {
    if (typeof oldStart !== 'number' || typeof newStart !== 'number' || !Array.isArray(lines)) return [];
    const texts = lines.filter((line) => typeof line === 'string');
    return [{ oldStart, newStart, lines: texts.filter((line) => !line.startsWith('\\')) }];
  });
  return hunks.length === patch.length ? hunks : null;
}

function objectOf(value: JsonValue): JsonObject {
  return isPlainObject(value) ? (value as JsonObject) : {};
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function contentIn<Name extends 'before' | 'after'>(
  name: Name,
  value: JsonValue | undefined,
): { readonly [key in Name]?: string | null } {
  return typeof value === 'string' || value === null
    ? ({ [name]: value } as Record<Name, string | null>)
    : {};
}
