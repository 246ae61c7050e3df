import type { JsonObject, JsonValue } from '@hansard/events';
import { firstLine } from '@hansard/events';
import { asList, asObject, asText } from '../values/json-fields.ts';

/** Why a tool call was not carried out, and by whom. */
export interface Denial {
  readonly hook: string;
  readonly reason: string;
}

/** The text of a tool result: its text blocks, one after the other. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  const texts = (asList(content) ?? []).map((block) => asText(asObject(block)?.text));
  return texts.filter((text) => text !== undefined).join('\n');
}

/** What went wrong, in one line: the lines after the first may hold output or contents of files (D7). */
export function errorLine(text: string, content: JsonValue | undefined): string {
  return firstLine(bare(text)) ?? asText(asObject(content)?.error_code) ?? 'the tool failed';
}

/** The denial that an error tells of: one by a hook is told by the text too, any by the decision beside it. */
export function findDenial(text: string, meta: JsonObject | undefined): Denial | undefined {
  const hook = /^(?:Error: )?(PreToolUse:\S+) hook error: ([\s\S]*)$/.exec(bare(text));
  if (hook?.[1] !== undefined && hook[2] !== undefined) return { hook: hook[1], reason: hook[2] };
  const decision = asObject(meta?.permission_decision);
  if (decision?.decision !== 'reject') return undefined;
  return { hook: decision.source === 'hook' ? 'PreToolUse' : 'permission', reason: bare(text) };
}

function bare(text: string): string {
  return /^\s*<tool_use_error>([\s\S]*)<\/tool_use_error>\s*$/.exec(text)?.[1] ?? text;
}
