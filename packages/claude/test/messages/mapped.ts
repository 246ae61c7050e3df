import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CapturedEvent,
  createIdSource,
  type Delta,
  type Fidelity,
  type JsonObject,
  parseEvent,
} from '@hansard/events';
import { type ClaudeActivity, createClaudeMapping } from '../../src/index.ts';

export const fixtures = join(import.meta.dirname, '../fixtures/claude-stream');
export const corpus = join(
  process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures'),
  'claude-stream',
);

export const start = Date.parse('2026-03-01T09:30:00.000Z');

export interface Mapped {
  readonly events: CapturedEvent[];
  readonly deltas: Delta[];
}

/** Maps messages one after the other, a second apart, and checks that each event can be recorded. */
export function mapMessages(messages: readonly unknown[], fidelity: Fidelity = 'narrative'): Mapped {
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

/** The activities as a store would get them. */
export function recorded(activities: readonly ClaudeActivity[]): Mapped {
  const mint = createIdSource();
  const events: CapturedEvent[] = [];
  const deltas: Delta[] = [];
  for (const activity of activities) {
    if (activity.kind === 'delta') deltas.push(activity.delta);
    else events.push(parseEvent({ ...activity.event, id: activity.event.id ?? mint() }));
  }
  const ids = new Set(events.map(({ id }) => id));
  if (ids.size !== events.length) throw new Error('two events have the same id');
  return { events, deltas };
}

export function readMessages(path: string): JsonObject[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JsonObject);
}

export function ofType(events: readonly CapturedEvent[], type: string): CapturedEvent[] {
  return events.filter((event) => event.type === type);
}

/** The data of the only event of a type. */
export function dataOf(events: readonly CapturedEvent[], type: string): JsonObject {
  const found = ofType(events, type);
  if (found.length !== 1) throw new Error(`${found.length} events of type ${type}, not 1`);
  return found[0]?.data ?? {};
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
