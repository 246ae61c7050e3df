import type { JsonValue } from '@hansard/events';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/** The level of detail of a rendered message. Below `low` it is omitted. */
export type Detail = 'high' | 'medium' | 'low';

/** `tool`: inputs and results of tools, and observed output; shortened first. `talk`: what was said. */
export type Substance = 'talk' | 'tool';

/** The characters that are kept of each text. */
const kept = {
  talk: { medium: 2_000, low: 400 },
  tool: { medium: 800, low: 120 },
} as const;

/** The elements that are kept of each list in the input of a tool. */
const keptElements = { medium: 50, low: 8 } as const;

/** A text at a level of detail: its head, the number of omitted characters, and its tail. */
export function textAt(text: string, detail: Detail, substance: Substance): string {
  if (detail === 'high') return text;
  const limit = kept[substance][detail];
  if (text.length <= limit) return text;
  const head = text.slice(0, endOfCharacter(text, Math.ceil((limit * 2) / 3)));
  const tail = text.slice(endOfCharacter(text, text.length - Math.floor(limit / 3)));
  const leftOut = text.length - head.length - tail.length;
  const shortened = `${head}\n[… ${leftOut} characters left out …]\n${tail}`;
  return shortened.length < text.length ? shortened : text;
}

/** A call at a level of detail: the texts and lists in its input are shortened, its shape stays. */
export function callAt(call: TranscriptToolCall, detail: Detail): TranscriptToolCall {
  return detail === 'high' ? call : { ...call, input: inputAt(call.input, detail) };
}

function inputAt(value: JsonValue, detail: 'medium' | 'low'): JsonValue {
  if (typeof value === 'string') return textAt(value, detail, 'tool');
  if (Array.isArray(value)) {
    const first = value.slice(0, keptElements[detail]).map((element) => inputAt(element, detail));
    const leftOut = value.length - first.length;
    return leftOut === 0 ? first : [...first, `[… ${leftOut} elements left out …]`];
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [
    key,
    field === undefined ? field : inputAt(field, detail),
  ]);
  return Object.fromEntries(fields) as JsonValue;
}

/** The nearest index at or before this one that does not split a surrogate pair. */
function endOfCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isInside = code >= 0xdc00 && code <= 0xdfff && isHighSurrogate(text.charCodeAt(index - 1));
  return isInside ? index - 1 : index;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
