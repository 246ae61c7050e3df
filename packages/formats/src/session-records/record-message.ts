import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { TranscriptMessage, TranscriptToolCall } from '@hansard/prompt';
import { parseJson } from './parse-lines.ts';

/** The text of a message: the text itself, the texts of its parts, or any other content as JSON. */
export function contentText(content: JsonValue | undefined): string | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => (isTextPart(part) ? part.text : JSON.stringify(part))).join('\n');
}

/** The answer of a model in a transcript. */
export function answerOf(record: JsonObject, id: string): TranscriptMessage {
  const calls = Array.isArray(record.tool_calls) ? record.tool_calls : [];
  const content = contentText(record.content);
  if (calls.length === 0) return { role: 'assistant', content };
  return {
    role: 'assistant',
    content,
    toolCalls: calls.map((call, index) => toolCallOf(call, `${id}:call-${index}`)),
  };
}

/** Whether a value is a tool call in the form of the dialects. */
export function isToolCall(value: JsonValue): boolean {
  if (!isPlainObject(value) || !isText(value.id) || !isPlainObject(value.function)) return false;
  return isText(value.function.name) && typeof value.function.arguments === 'string';
}

/** Non-empty text, or the fallback. */
export function textOr(value: unknown, fallback: string): string {
  return isText(value) ? value : fallback;
}

function toolCallOf(value: JsonValue, ownId: string): TranscriptToolCall {
  const call = isPlainObject(value) ? value : {};
  const { name, arguments: raw = null } = (isPlainObject(call.function) ? call.function : {}) as JsonObject;
  return { toolCallId: textOr(call.id, ownId), tool: textOr(name, '?'), input: inputOf(raw) };
}

/** The parsed arguments; the text itself if it is not JSON. */
function inputOf(raw: JsonValue): JsonValue {
  const parsed = typeof raw === 'string' ? parseJson(raw) : undefined;
  return parsed === undefined ? raw : (parsed.value as JsonValue);
}

function isTextPart(part: JsonValue): part is { text: string } {
  return isPlainObject(part) && part.type === 'text' && typeof part.text === 'string';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
