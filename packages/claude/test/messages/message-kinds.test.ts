import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { ClaudeMessageKind } from '../../src/map/message-kinds.ts';
import { assistant, mapMessages, result, user } from './mapped.ts';

type KindOf<Message> = Message extends {
  type: infer Type extends string;
  subtype: infer Subtype extends string;
}
  ? `${Type}/${Subtype}`
  : Message extends { type: infer Type extends string }
    ? Type
    : never;

type Missing = Exclude<KindOf<SDKMessage>, ClaudeMessageKind>;
type Superfluous = Exclude<ClaudeMessageKind, KindOf<SDKMessage>>;

/** Fails to compile when the SDK has a kind of message that is not mapped, or no longer has one that is. */
const differences: [Missing, Superfluous] extends [never, never] ? true : [Missing, Superfluous] = true;

const ids = { uuid: 'u1', session_id: 's1' };

/** A message of each kind, without type and subtype, and the types of its events. */
const table: Readonly<Record<ClaudeMessageKind, readonly [object, ...string[]]>> = {
  assistant: [assistant([{ type: 'text', text: 'hi' }], ids), 'agent:text', 'agent:inference'],
  user: [user('hi', ids), 'user:message'],
  stream_event: [{ event: { type: 'message_stop' }, parent_tool_use_id: null }],
  rate_limit_event: [{ rate_limit_info: { status: 'allowed' } }, 'session:rate_limit'],
  tool_progress: [{ tool_use_id: 't1', tool_name: 'Bash', elapsed_time_seconds: 3 }, 'system:tool_progress'],
  tool_use_summary: [{ summary: 'read it', preceding_tool_use_ids: ['t1'] }, 'system:tool_use_summary'],
  auth_status: [{ isAuthenticating: true, output: ['a'] }, 'system:auth_status'],
  prompt_suggestion: [{ suggestion: 'go on' }, 'system:prompt_suggestion'],
  conversation_reset: [{ new_conversation_id: 'c2', trigger: 'clear' }, 'session:rewind'],
  'result/success': [result(ids), 'session:complete'],
  'result/error_during_execution': [result({ ...ids, errors: ['x'] }), 'session:complete'],
  'result/error_max_turns': [result(ids), 'session:complete'],
  'result/error_max_budget_usd': [result(ids), 'session:complete'],
  'result/error_max_structured_output_retries': [result(ids), 'session:complete'],
  'system/init': [{ model: 'claude-test', cwd: '/w', tools: ['Bash'] }, 'session:init'],
  'system/status': [{ status: 'requesting' }, 'session:status'],
  'system/compact_boundary': [{ compact_metadata: { trigger: 'auto', pre_tokens: 9 } }, 'session:compaction'],
  'system/permission_denied': [
    { tool_name: 'Bash', tool_use_id: 't1', message: 'no' },
    'harness:hook_decision',
  ],
  'system/task_started': [
    { task_id: 'a1', task_type: 'local_agent', tool_use_id: 't1', description: 'look' },
    'agent:created',
    'system:task_started',
  ],
  'system/task_notification': [
    { task_id: 'a1', status: 'completed', summary: 'seen' },
    'system:task_notification',
  ],
  'system/task_progress': [{ task_id: 'a1', description: 'looking' }, 'system:task_progress'],
  'system/task_updated': [{ task_id: 'a1', patch: { status: 'completed' } }, 'system:task_updated'],
  'system/background_tasks_changed': [{ tasks: [] }, 'system:background_tasks_changed'],
  'system/files_persisted': [
    { files: [{ filename: 'a', file_id: 'f' }], failed: [] },
    'system:files_persisted',
  ],
  'system/hook_started': [{ hook_id: 'h', hook_name: 'Stop', hook_event: 'Stop' }, 'system:hook_started'],
  'system/hook_progress': [{ hook_id: 'h', output: 'half' }, 'system:hook_progress'],
  'system/hook_response': [{ hook_id: 'h', outcome: 'success', exit_code: 0 }, 'system:hook_response'],
  'system/api_retry': [{ attempt: 1, error_status: null }, 'system:api_retry'],
  'system/control_request_progress': [
    { request_id: 'r', status: 'started' },
    'system:control_request_progress',
  ],
  'system/model_refusal_fallback': [{ original_model: 'a', content: 'x' }, 'system:model_refusal_fallback'],
  'system/model_refusal_no_fallback': [{ original_model: 'a' }, 'system:model_refusal_no_fallback'],
  'system/local_command_output': [{ content: 'x' }, 'system:local_command_output'],
  'system/plugin_install': [{ status: 'started' }, 'system:plugin_install'],
  'system/thinking_tokens': [{ estimated_tokens: 3 }, 'system:thinking_tokens'],
  'system/session_state_changed': [{ state: 'idle' }, 'system:session_state_changed'],
  'system/worker_shutting_down': [{ reason: 'host_exit' }, 'system:worker_shutting_down'],
  'system/commands_changed': [{ commands: [] }, 'system:commands_changed'],
  'system/notification': [{ key: 'k', text: 't' }, 'system:notification'],
  'system/memory_recall': [{ mode: 'select', memories: [] }, 'system:memory_recall'],
  'system/elicitation_complete': [{ elicitation_id: 'e' }, 'system:elicitation_complete'],
  'system/mirror_error': [{ error: 'x' }, 'system:mirror_error'],
  'system/informational': [{ content: 'x', level: 'info' }, 'system:informational'],
  'system/session_writes_lost': [
    { error_code: 'ENOSPC', lost: ['transcript'] },
    'system:session_writes_lost',
  ],
};

function messageOf(kind: string, fields: object) {
  const [type, subtype] = kind.split('/');
  return { ...ids, ...fields, type, ...(subtype === undefined ? {} : { subtype }) };
}

describe('kinds of messages', () => {
  it('every kind of the SDK is mapped', () => {
    expect(differences).toBe(true);
  });

  it.each(Object.entries(table))('%s is mapped to its events', (kind, [fields, ...types]) => {
    const { events } = mapMessages([messageOf(kind, fields)]);
    expect(events.map(({ type }) => type)).toEqual(types);
    if (types.length > 0) expect(events.map(({ id }) => id)).toContain('u1');
  });

  const asTheyAre = Object.entries(table).filter(([, [, ...types]]) => types.at(-1)?.startsWith('system:'));
  it.each(asTheyAre)('%s keeps all its fields under their own names', (kind, [fields]) => {
    const status = { type: 'system', subtype: 'status', session_id: 's1' };
    const { events } = mapMessages([status, messageOf(kind, fields)], 'full');
    expect(events.at(-1)?.data).toEqual(fields);
  });

  it('an unknown kind is kept under its own name with all its fields', () => {
    const { events } = mapMessages([
      { ...ids, type: 'fooBar', subtype: 'new-thing', x: 1, session_id: 's2' },
      { type: 'system', subtype: '2nd' },
      { type: '***' },
      { type: 'keep_alive' },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'system:foo_bar_new_thing',
      'system:x_2nd',
      'system:x__',
      'system:keep_alive',
    ]);
    expect(events[0]?.data).toEqual({ x: 1, session_id: 's2' });
  });

  it('a result with an unknown subtype is a failed end', () => {
    const { events } = mapMessages([result({ subtype: 'error_of_tomorrow', is_error: true })]);
    expect(events[0]).toMatchObject({
      type: 'session:complete',
      data: { status: 'failed', reason: 'error_of_tomorrow' },
    });
  });

  it.each([
    [42, 'not an object'],
    [null, 'not an object'],
    [['a'], 'not an object'],
    [{ uuid: 'u1' }, 'no type'],
    [{ type: 'assistant', x: Number.NaN }, 'JSON'],
    [{ type: 'assistant', uuid: 'u1', message: { id: 'm' } }, 'without content'],
    [{ type: 'user', uuid: 'u1' }, 'without content'],
    [{ type: 'user', uuid: 'u1', message: { content: [] } }, 'without content'],
    [{ type: 'system', subtype: 'init', uuid: 'u1' }, 'without model'],
    [{ type: 'system', subtype: 'compact_boundary', uuid: 'u1' }, 'without its trigger'],
  ])('%j, which is not a message, is kept as a notice with its place', (value, problem) => {
    const { events } = mapMessages([value], 'full');
    expect(events.map(({ type }) => type)).toEqual(['system:notice']);
    expect(events[0]?.data).toMatchObject({
      file: 'a.jsonl',
      line: 1,
      problem: expect.stringContaining(problem),
    });
    expect(events[0]?.data).toHaveProperty('raw');
  });

  it('a notice holds at most 16 KB of its value, and the total length', () => {
    const { events } = mapMessages([{ type: 'user', text: 'é'.repeat(20_000) }], 'full');
    const { raw, rawBytes } = events[0]?.data ?? {};
    expect(Buffer.byteLength(String(raw))).toBeLessThanOrEqual(16 * 1024);
    expect(raw).not.toContain('\uFFFD');
    expect(rawBytes).toBe(40_000 + '{"type":"user","text":""}'.length);
  });
});
