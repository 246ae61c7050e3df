import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fidelity, JsonObject } from '@hansard/events';
import {
  claudeStreamFixtures,
  corpus as examples,
  type RecordedActivities,
  recorded,
} from '@hansard/testing';
import { createClaudeMapping } from '../../src/index.ts';

export { dataOf, ofType, recorded } from '@hansard/testing';
export const fixtures = claudeStreamFixtures;
export const corpus = join(examples, 'claude-stream');

export const start = Date.parse('2026-03-01T09:30:00.000Z');

/** Maps messages one after the other, a second apart, and checks that each event can be recorded. */
export function mapMessages(
  messages: readonly unknown[],
  fidelity: Fidelity = 'narrative',
): RecordedActivities {
  let time = start - 1_000;
  const now = () => {
    time += 1_000;
    return time;
  };
  const mapping = createClaudeMapping({ fidelity, now });
  const activities = messages.flatMap((message, index) =>
    mapping.map(message, { file: 'a.jsonl', line: index + 1 }),
  );
  return recorded([...activities, ...mapping.finish()]);
}

export function readMessages(path: string): JsonObject[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JsonObject);
}

export function assistant(content: unknown, fields: JsonObject = {}, message: JsonObject = {}): JsonObject {
  return {
    type: 'assistant',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: content as JsonObject[],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 2 },
      ...message,
    },
    parent_tool_use_id: null,
    ...fields,
  };
}

export function toolUse(id: string, name: string, input: JsonObject = {}): JsonObject {
  return { type: 'tool_use', id, name, input };
}

export function user(content: unknown, fields: JsonObject = {}): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: content as JsonObject[] },
    parent_tool_use_id: null,
    ...fields,
  };
}

export function toolResult(id: string, content: unknown, isError = false): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content: content as string, is_error: isError };
}

export function result(fields: JsonObject = {}): JsonObject {
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 100,
    num_turns: 1,
    result: 'done',
    total_cost_usd: 0.01,
    usage: { input_tokens: 10, output_tokens: 2 },
    modelUsage: {},
    permission_denials: [],
    ...fields,
  };
}
