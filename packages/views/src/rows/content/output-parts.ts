import type { ContentPart, EventData, JsonObject, JsonValue, OutputPart } from '@hansard/events';
import { isMediaPart, isPlainObject, snapshotText } from '@hansard/events/plain';
import type { RowPart } from '../row.ts';
import { objectParts } from './input-parts.ts';

type Result = EventData<'agent:tool_result'>;

/** What came back from a call: its error, its output as text, images or JSON, and the recorded facts about it. */
export function outcomeParts({ error, output, metadata, target }: Result): RowPart[] {
  const shown = output === undefined || output === null ? [] : outputParts(output);
  // An engine often repeats the error as the beginning of the output.
  const isRepeated = error !== undefined && textOf(shown[0]).startsWith(error.replace(/…$/, ''));
  const parts = [
    ...(error === undefined || isRepeated ? [] : [plain(error)]),
    ...shown,
    ...(shown.length === 0 ? [] : workParts(metadata)),
  ];
  // Facts of a full output are in it, or beside it in its engine's own words; a narrative has nothing else.
  return parts.length > 0 ? parts : objectParts(metadata as JsonObject, target);
}

/** What a call did for the work, in words: commits, pushes and pull requests, and an edit that a person changed. */
function workParts({ gitOperation, userModified }: JsonObject): RowPart[] {
  const { commit, push, pr, branch } = fieldsOf(gitOperation);
  const words = (name: string, value: JsonValue | undefined, ...keys: string[]) => {
    const fields = fieldsOf(value);
    const named = keys.flatMap((key) => (fields[key] == null ? [] : String(fields[key])));
    return named.length === 0 ? [] : [`${name} ${named.join(' ')}`];
  };
  return [
    ...words('commit', commit, 'sha', 'kind'),
    ...words('push to', push, 'branch'),
    ...words('branch', branch, 'ref', 'action'),
    ...words('pull request', pr, 'number', 'action', 'url'),
    ...(userModified === true ? ['A person changed this edit before it was made.'] : []),
  ].map((text) => plain(text));
}

function fieldsOf(value: JsonValue | undefined): JsonObject {
  return isPlainObject(value) ? (value as JsonObject) : {};
}

function textOf(part: RowPart | undefined): string {
  return part?.kind === 'text' ? part.text : '';
}

/** Recorded output: content blocks as what they contain. */
function outputParts(output: JsonValue): RowPart[] {
  if (typeof output === 'string') return output === '' ? [] : [plain(output)];
  if (Array.isArray(output) && output.length > 0 && output.every(isBlock)) return output.flatMap(blockParts);
  return isBlock(output) ? blockParts(output) : [{ kind: 'json', value: output }];
}

/** What is attached to a message: texts with their names, and images, documents and sounds. */
export function attachedParts(parts: readonly ContentPart[] = []): RowPart[] {
  return parts.map((part): RowPart => {
    if (part.kind !== 'text') return { kind: 'media', media: part };
    return { kind: 'text', label: part.name ?? 'attached', text: part.text, style: 'plain' };
  });
}

/** The parts of an observed output. */
export function observedParts(parts: readonly OutputPart[]): RowPart[] {
  return parts.map(observedPart);
}

function observedPart(part: OutputPart): RowPart {
  switch (part.kind) {
    case 'text':
      return plain(part.text);
    case 'json':
      return { kind: 'json', value: part.json };
    case 'image':
    case 'document':
    case 'audio':
      return { kind: 'media', media: part };
    case 'value':
      return { kind: 'text', text: snapshotText(part), style: 'code' };
    case 'repr':
      return { kind: 'text', text: part.repr, style: 'code' };
  }
}

export function plain(text: string): RowPart {
  return { kind: 'text', text, style: 'plain' };
}

export function markdown(text: string, label?: string): RowPart {
  return label === undefined
    ? { kind: 'text', text, style: 'markdown' }
    : { kind: 'text', label, text, style: 'markdown' };
}

type Block = JsonObject;

function isBlock(value: JsonValue): value is Block {
  return isPlainObject(value) && (typeof value.type === 'string' || isMediaPart(value) || isTextPart(value));
}

function isTextPart({ kind, text }: JsonObject): boolean {
  return kind === 'text' && typeof text === 'string';
}

function blockParts(block: Block): RowPart[] {
  const { type, text } = block;
  const keys = Object.keys(block).length;
  if (type === 'text' && typeof text === 'string' && keys === 2) return [markdown(text)];
  if (isMediaPart(block)) return [{ kind: 'media', media: block }];
  if (isTextPart(block)) return attachedParts([block as unknown as ContentPart]);
  return [{ kind: 'json', value: block }];
}
