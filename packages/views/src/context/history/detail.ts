import type { JsonValue } from '@hansard/events';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';

/** How much of a message is rendered. What is faded further than `low` is omitted. */
export type Detail = 'high' | 'medium' | 'low';

/** What is shortened sooner (`tool`: what tools took and gave, what was observed) and what later (`talk`: what was said). */
export type Substance = 'talk' | 'tool';

/** Characters that are kept of each text. */
const kept = {
  talk: { medium: 2_000, low: 400 },
  tool: { medium: 800, low: 120 },
} as const;

/** Elements that are kept of each list in a tool's input. */
const keptElements = { medium: 50, low: 8 } as const;

/** A text at a detail: its head, what was left out in numbers, and its tail. */
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

/** A call at a detail. It keeps its shape; the texts and lists in its input are shortened. */
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

/** An index at or before this one that splits no surrogate pair. */
function endOfCharacter(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isInside = code >= 0xdc00 && code <= 0xdfff && isHighSurrogate(text.charCodeAt(index - 1));
  return isInside ? index - 1 : index;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
