import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { createClaudeMapping } from '../../src/index.ts';
import { identityFields } from '../../src/map/mapping-step.ts';
import { corpus, fixtures, readMessages, recorded } from './mapped.ts';

/** Fields that an event holds under another name. */
const inOwnWords: Readonly<Record<string, readonly string[]>> = {
  assistant: ['message', 'parent_tool_use_id', 'agent_id', 'subagent_type', 'task_description'],
  user: [
    'message',
    'parent_tool_use_id',
    'agent_id',
    'subagent_type',
    'task_description',
    'tool_result_meta',
  ],
  result: [
    'is_error',
    'result',
    'structured_output',
    'errors',
    'total_cost_usd',
    'duration_ms',
    'num_turns',
    'permission_denials',
  ],
  'system/init': ['cwd', 'tools', 'model'],
  rate_limit_event: ['rate_limit_info'],
};

/** The names of the fields in a value, at any depth, with its own. */
function namesIn(key: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [key];
  return [key, ...Object.entries(value).flatMap(([name, field]) => namesIn(name, field))];
}

/** The fields that are neither in an event nor counted by one as left out. */
function lostFields(message: JsonObject, events: readonly CapturedEvent[]): string[] {
  const kind = message.type === 'system' ? `system/${message.subtype}` : String(message.type);
  const known = [...identityFields, ...(inOwnWords[kind] ?? [])];
  const held = events.flatMap(({ data }) => [data, (data.details ?? {}) as JsonObject]);
  const counted = new Set(events.flatMap(({ data }) => Object.keys((data.leftOut ?? {}) as JsonObject)));
  return Object.keys(message).filter(
    (field) =>
      message[field] !== null &&
      !known.includes(field) &&
      !namesIn(field, message[field]).some((name) => counted.has(name)) &&
      !held.some((data) => JSON.stringify(data[field]) === JSON.stringify(message[field])),
  );
}

const folders = [fixtures, ...(existsSync(corpus) ? [corpus] : [])];
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));

describe('fields of recorded messages', () => {
  it.each(['narrative', 'full'] as const)(
    'are in an event or counted as left out at %s fidelity',
    (fidelity) => {
      const lost = files.flatMap((file) => {
        const mapping = createClaudeMapping({ fidelity });
        return readMessages(file).flatMap((message) => {
          const { events } = recorded(mapping.map(message));
          const isRepeatedInit = message.subtype === 'init' && events.length === 0;
          if (message.type === 'stream_event' || isRepeatedInit) return [];
          if (fidelity === 'full') expect(events.filter(({ data }) => 'leftOut' in data)).toEqual([]);
          return lostFields(message, events);
        });
      });
      expect(files.length).toBeGreaterThanOrEqual(5);
      expect(lost).toEqual([]);
    },
  );

  it('the fields of an API message outside its blocks are in its inference', () => {
    const mapping = createClaudeMapping({ fidelity: 'narrative' });
    const { events } = recorded(
      mapping.map({
        type: 'assistant',
        session_id: 's1',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-test',
          content: [{ type: 'text', text: 'hi' }],
          stop_reason: 'stop_sequence',
          stop_sequence: 'END',
          container: null,
          usage: {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_input_tokens: null,
            service_tier: 'standard',
            poems: 3,
          },
        },
      }),
    );
    expect(events[1]?.data).toEqual({
      model: 'claude-test',
      usage: { inputTokens: 1, outputTokens: 2, serviceTier: 'standard' },
      stopReason: 'stop_sequence',
      details: { stop_sequence: 'END', usage: { poems: 3 } },
    });
  });

  it('a change of the session is recorded where it happens', () => {
    const mapping = createClaudeMapping({ fidelity: 'narrative' });
    const status = (session_id: string) =>
      recorded(mapping.map({ type: 'system', subtype: 'status', session_id })).events[0]?.data;
    expect([status('s1'), status('s1'), status('s2')]).toEqual([
      { session_id: 's1' },
      {},
      { session_id: 's2' },
    ]);
  });
});
