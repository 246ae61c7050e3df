import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EventData,
  type EventLinks,
  type KnownEventType,
  newEvent,
  type TaskSource,
} from '@hansard/events';

export const parentId = '01JX00000000000000000000P0';
export const childId = '01JX00000000000000000000C0';
const begin = Date.parse('2026-03-01T09:30:00.000Z');

export const at = (milliseconds: number) => new Date(begin + milliseconds).toISOString();
export const nanos = (milliseconds: number) => BigInt(begin + milliseconds) * 1_000_000n;

export function envelope(dispatchId: string, more: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId,
    taskSlug: 'cafe',
    role: 'lead',
    title: null,
    model: 'claude-test-1',
    cwd: null,
    startedAt: at(0),
    completedAt: at(10_000),
    status: 'completed',
    ended: null,
    cost: 0.5,
    usage: { inputTokens: 100, outputTokens: 20 },
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'full',
    schemaVersion: 1,
    ...more,
  };
}

/** An event at a time of the sample. Ids are fixed, so that tests can refer to them. */
export function event<T extends KnownEventType>(
  id: string,
  time: number,
  type: T,
  data: EventData<T>,
  links: EventLinks = {},
): CapturedEvent {
  return { ...newEvent(type, data, links), id, timestamp: at(time) } as CapturedEvent;
}

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 30, cacheWriteTokens: 2 };

/** A lead creates Jack and dispatches a worker; Jack hears the lead's words. */
export const leadEvents: readonly CapturedEvent[] = [
  event('u1', 0, 'user:message', { text: 'Begin.', source: { kind: 'user' } }),
  event('t1', 900, 'agent:text', { text: 'I ask Jack.' }, { messageId: 'm1' }),
  event(
    'c1',
    950,
    'agent:tool_call',
    { toolCallId: 'k1', tool: 'create_agent', input: { name: 'Jack' }, metadata: {} },
    { messageId: 'm1' },
  ),
  event(
    'i1',
    1_000,
    'agent:inference',
    { model: 'claude-test-1', durationMs: 800, usage, costUsd: 0.02, stopReason: 'tool_use' },
    { messageId: 'm1' },
  ),
  event('a1', 1_100, 'agent:created', { name: 'Jack' }, { agentId: 'agent_002', cause: 'c1' }),
  event(
    'u2',
    1_200,
    'user:message',
    { text: 'I ask Jack.', source: { kind: 'agent' } },
    { agentId: 'agent_002', substance: 't1' },
  ),
  event('t2', 1_800, 'agent:text', { text: 'Here I am.' }, { agentId: 'agent_002', messageId: 'm2' }),
  event(
    'i2',
    1_900,
    'agent:inference',
    { model: 'gpt-test', durationMs: 500, usage },
    { agentId: 'agent_002', messageId: 'm2' },
  ),
  event('h1', 1_950, 'harness:hook_decision', {
    hook: 'limits',
    on: 'tool_result',
    decision: 'allow',
    toolCallId: 'k1',
  }),
  event(
    'r1',
    2_000,
    'agent:tool_result',
    { toolCallId: 'k1', tool: 'create_agent', status: 'completed', output: 'Here I am.', metadata: {} },
    { substance: 't2' },
  ),
  event('c2', 2_100, 'agent:tool_call', {
    toolCallId: 'k2',
    tool: 'dispatch',
    metadata: { dispatchId: childId },
  }),
  event('r2', 5_000, 'agent:tool_result', {
    toolCallId: 'k2',
    tool: 'dispatch',
    status: 'error',
    error: 'It failed.',
    metadata: { dispatchId: childId },
  }),
  event('x1', 6_000, 'session:compaction', { trigger: 'auto', preTokens: 9, postTokens: 3 }),
];

export const workerEvents: readonly CapturedEvent[] = [
  event(
    'u1',
    2_200,
    'user:message',
    {
      text: 'Work.',
      source: { kind: 'agent', dispatchId: parentId },
    },
    { cause: 'c2' },
  ),
  event('i1', 3_000, 'agent:inference', { model: 'claude-test-1', durationMs: 700, usage }),
  event('c1', 3_100, 'agent:tool_call', { toolCallId: 'k1', tool: 'Bash', metadata: {} }),
];

export const sampleRun: TaskSource = {
  taskDir: 'hansard/tasks/sample',
  task: null,
  envelopes: [
    envelope(parentId),
    envelope(childId, {
      role: 'worker',
      title: null,
      parentDispatchId: parentId,
      startedAt: at(2_150),
      completedAt: null,
      status: 'crashed',
    }),
  ],
  async *readEvents(dispatchId) {
    yield* dispatchId === parentId ? leadEvents : workerEvents;
  },
};

export function oneDispatch(
  events: Iterable<CapturedEvent>,
  more: Partial<DispatchEnvelope> = {},
): TaskSource {
  return {
    taskDir: 'hansard/tasks/sample',
    task: null,
    envelopes: [envelope(parentId, more)],
    async *readEvents() {
      yield* events;
    },
  };
}
