import type { EventData, JsonObject, JsonValue, OutputPart } from '@hansard/events';
import { isPlainObject, snapshotText } from '@hansard/events/plain';
import type { RowPart } from '../row.ts';
import { objectParts } from './input-parts.ts';

type Result = EventData<'agent:tool_result'>;

/** What came back from a call: its error, its output as text, images or JSON, and the recorded facts about it. */
export function outcomeParts({ error, output, metadata, target }: Result): RowPart[] {
  const shown = output === undefined || output === null ? [] : outputParts(output);
  // An engine often repeats the error as the beginning of the output.
  const isRepeated = error !== undefined && textOf(shown[0]).startsWith(error.replace(/…$/, ''));
  const parts = error === undefined || isRepeated ? shown : [plain(error), ...shown];
  // Facts of a full output are in it, or beside it in its engine's own words; a narrative has nothing else.
  return parts.length > 0 ? parts : objectParts(metadata as JsonObject, target);
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
      return { kind: 'image', mediaType: part.mediaType, base64: part.base64 };
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

interface Block extends JsonObject {
  readonly type: string;
}

function isBlock(value: JsonValue): value is Block {
  return isPlainObject(value) && typeof value.type === 'string';
}

function blockParts(block: Block): RowPart[] {
  const { type, text, source } = block;
  const keys = Object.keys(block).length;
  if (type === 'text' && typeof text === 'string' && keys === 2) return [markdown(text)];
  if (type === 'image' && keys === 2 && isPlainObject(source)) {
    const { type: kind, media_type: mediaType, data } = source as JsonObject;
    if (kind === 'base64' && typeof mediaType === 'string' && typeof data === 'string')
      return [{ kind: 'image', mediaType, base64: data }];
  }
  return [{ kind: 'json', value: block }];
}
