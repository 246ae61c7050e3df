import type { CapturedEvent, EventData, KnownEventType } from '@hansard/events';

const usage = { inputTokens: 10, outputTokens: 5 };

const sampleData: { [T in KnownEventType]: EventData<T> } = {
  'agent:created': { name: 'tester', languageModel: 'model-1' },
  'agent:terminated': { reason: 'done' },
  'agent:revived': { reason: 'needed again', missed: ['e7'], missingTools: ['Bash'] },
  'agent:undelivered': { text: 'Are you there?', source: { kind: 'agent', agentId: 'agent_001' } },
  'agent:system_prompt': { text: 'You test.' },
  'agent:text': { text: 'Hello.' },
  'agent:thinking': { text: 'Hm.', signature: 'sig' },
  'agent:tool_call': {
    toolCallId: 'c1',
    tool: 'Bash',
    target: 'ls',
    input: { command: 'ls' },
    metadata: { command: 'ls' },
  },
  'agent:tool_result': {
    toolCallId: 'c1',
    tool: 'Bash',
    target: 'ls',
    status: 'completed',
    durationMs: 12.5,
    output: 'a',
    metadata: { exitCode: 0 },
  },
  'agent:piece_of_text': { text: 'You meet in a café.' },
  'agent:inference': {
    model: 'model-1',
    durationMs: 100,
    usage,
    costUsd: 0.01,
    stopReason: 'end_turn',
    context: { hash: 'sha256:00' },
  },
  'agent:output': {
    parts: [
      { kind: 'text', text: 'x' },
      { kind: 'json', json: [1] },
      { kind: 'repr', repr: '[Function]' },
    ],
  },
  'user:message': { text: 'Go on.', source: { kind: 'agent', agentId: 'agent_001', dispatchId: 'd1' } },
  'session:init': { model: 'model-1', sessionId: 's1', cwd: '/work', tools: ['Bash'] },
  'session:complete': {
    status: 'completed',
    result: 'done',
    structuredResult: { ok: true },
    costUsd: 0.02,
    usage,
    durationMs: 5,
    turns: 2,
  },
  'session:compaction': { trigger: 'auto', preTokens: 9, postTokens: 3, summary: 's', keptFrom: 'e9' },
  'session:rate_limit': { status: 'allowed' },
  'session:status': { status: 'requesting' },
  'harness:loop_warning': { tool: 'Bash', target: 'ls', count: 5, limit: 5, window: 20 },
  'harness:loop_kill': { tool: 'Bash', target: 'ls', count: 10, limit: 10, window: 20 },
  'harness:stall': { idleMs: 60_000, limitMs: 60_000 },
  'harness:timeout': { elapsedMs: 10, limitMs: 10 },
  'harness:abort': { reason: 'enough', by: 'user' },
  'harness:error': { message: 'boom', code: 'E', stack: 'at' },
  'harness:hook_decision': {
    hook: 'limits',
    on: 'tool_call',
    decision: 'deny',
    reason: 'no',
    toolCallId: 'c1',
    subject: 'e1',
  },
  'system:files_persisted': { files: ['a'] },
  'system:hook_started': { hook: 'a' },
  'system:hook_progress': { hook: 'a' },
  'system:hook_response': { hook: 'a' },
  'system:task_started': { task_id: 't' },
  'system:task_progress': { task_id: 't' },
  'system:task_updated': { task_id: 't' },
  'system:task_notification': { task_id: 't' },
  'system:notice': { problem: 'odd' },
};

/** One valid event of each known type. */
export const sampleEvents = Object.fromEntries(
  Object.entries(sampleData).map(([type, data], index) => [
    type,
    { id: `e${index}`, type, timestamp: '2026-03-01T09:30:00.000Z', data },
  ]),
) as unknown as { [T in KnownEventType]: CapturedEvent };
