import type { JsonObject, JsonValue } from '@hansard/events';
import { firstLine } from '@hansard/events';
import { asList, asObject, asText } from '../values/json-fields.ts';

/** The reason for which a tool call was not carried out, and the hook that denied it. */
export interface Denial {
  readonly hook: string;
  readonly reason: string;
}

/** The text of a tool result: its text blocks, joined. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  const texts = (asList(content) ?? []).map((block) => asText(asObject(block)?.text));
  return texts.filter((text) => text !== undefined).join('\n');
}

/** The error in one line. The lines after the first may hold output or contents of files (D7). */
export function errorLine(text: string, content: JsonValue | undefined): string {
  return firstLine(bare(text)) ?? asText(asObject(content)?.error_code) ?? 'the tool failed';
}

/** The denial that an error reports: by the decision beside the result or, for a hook, by the text. */
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
