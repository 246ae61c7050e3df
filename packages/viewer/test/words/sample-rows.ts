import type { CapturedEvent, EventLinks, JsonObject, JsonValue } from '@hansard/events';

let made = 0;

function event(
  type: CapturedEvent['type'],
  data: JsonObject,
  links: EventLinks & { readonly id?: string } = {},
): CapturedEvent {
  made += 1;
  return { id: `event-${made}`, type, timestamp: '2026-03-01T09:30:00.000Z', ...links, data };
}

function call(toolCallId: string, tool: string, input: JsonValue, target?: string): CapturedEvent {
  const aim = target === undefined ? {} : { target };
  return event('agent:tool_call', { toolCallId, tool, metadata: {}, input, ...aim });
}

function result(toolCallId: string, outcome: JsonObject): CapturedEvent {
  return event('agent:tool_result', {
    toolCallId,
    tool: 'Tool',
    metadata: {},
    durationMs: 1_250,
    ...outcome,
  });
}

const usage = { inputTokens: 10, outputTokens: 1_234 };
const from = { source: { kind: 'agent', agentId: 'ann' } };
const receives = (agentId: string, text: string, links: EventLinks) =>
  event('user:message', { text, ...from }, { agentId, ...links });
const decides = (agentId: string, data: JsonObject, links: EventLinks & { readonly id?: string } = {}) =>
  event('harness:hook_decision', data, { agentId, ...links });

/** A log of agents that shows who received what. */
export const sampleTalk: readonly CapturedEvent[] = [
  ...['ann', 'ben', 'cleo', 'dan'].map((agentId) => event('agent:created', { name: agentId }, { agentId })),
  event('agent:text', { text: 'Rye is out.' }, { agentId: 'ann', id: 'talk' }),
  receives('ben', 'Rye is out.', { substance: 'talk' }),
  receives('cleo', 'Something is out.', { substance: 'talk' }),
];

/** A log with a row of every kind, and words of every kind in them. */
export const sampleLog: readonly CapturedEvent[] = [
  ...['ann', 'ben', 'cleo', 'dan', 'eva', 'watch'].map((agentId) =>
    event('agent:created', { name: agentId }, { agentId }),
  ),
  event('user:message', { text: 'Move the job.', source: { kind: 'user' } }),
  event('agent:thinking', { text: 'The schedule first.' }, { messageId: 'm1' }),
  event('agent:text', { text: 'I will move it.' }, { messageId: 'm1' }),
  {
    ...call('t1', 'Edit', { file_path: 'a.ts', old_string: 'at 15', new_string: 'at 3' }, 'a.ts'),
    messageId: 'm1',
  },
  event('agent:inference', { model: 'm', usage, costUsd: 0.0018 }, { messageId: 'm1' }),
  result('t1', { status: 'completed', output: 'done' }),
  call(
    't2',
    'Bash',
    { command: 'npm test \\\n  -- schedule', timeout: 5, on: { deep: ['x'] } },
    'npm test \\\n  -- schedule',
  ),
  event('system:hook_started', { hook: 'lint', toolUseID: 't2' }),
  decides('', {
    hook: 'limits',
    on: 'tool_call',
    decision: 'alter',
    toolCallId: 't2',
    input: { command: 'true' },
  }),
  result('t2', { status: 'error', error: 'expected 15,\nreceived 3' }),
  event('session:status', { status: 'requesting' }),
  event('system:hook_started', { hook: 'lint' }),
  event('agent:text', { text: 'The code is 4711.' }, { agentId: 'ann', id: 'said' }),
  receives('ben', 'ann says: The code is 4711.', { substance: 'said' }),
  event('agent:text', { text: 'Nobody needs that code.' }, { agentId: 'watch', id: 'verdict' }),
  decides(
    'cleo',
    {
      hook: 'secrets',
      on: 'delivery',
      decision: 'alter',
      subject: 'said',
      reason: 'a secret',
      text: 'The code is hidden.',
    },
    { id: 'd1' },
  ),
  receives('cleo', 'The code is hidden.', { substance: 'said', via: 'd1' }),
  decides(
    'dan',
    { hook: 'secrets', on: 'delivery', decision: 'deny', subject: 'said', reason: 'a rival' },
    { id: 'd2', cause: 'verdict' },
  ),
  receives('dan', 'Something was said.', { via: 'd2' }),
  call('t3', 'Write', { path: 'b.ts', content: 'one' }),
  decides('', { hook: 'limits', on: 'tool_call', decision: 'deny', toolCallId: 't3' }),
  event('game:vote', { for: ['Jill'], round: 2 }),
  event('agent:output', {
    parts: [
      { kind: 'image', mediaType: 'image/tiff', base64: 'AAAA' },
      { kind: 'repr', repr: 'Socket' },
    ],
  }),
  event('harness:error', { message: 'It broke.', code: 'ODD', stack: 'at line 5' }),
  decides('ben', {
    hook: 'alone',
    on: 'delivery',
    decision: 'deny',
    subject: 'gone',
    reason: 'nothing of it is here',
  }),
  event('session:complete', {
    status: 'failed',
    result: 'half',
    errors: ['too long'],
    structuredResult: { ok: false },
  }),
];
