import {
  type CapturedEvent,
  createIdSource,
  type Delta,
  type DispatchEnvelope,
  type EventData,
  type EventLinks,
  envelopeSchemaVersion,
  type JsonObject,
  type KnownEventType,
  type NewEvent,
  parseEvent,
  toTimestamp,
} from '@hansard/events';
import type { AgentActivity } from '@hansard/provider';

const start = Date.parse('2026-03-01T09:30:00.000Z');
let made = 0;

/** An event of a known type, at 09:30:00. */
export function event<T extends KnownEventType>(
  type: T,
  data: EventData<T>,
  links: EventLinks & { readonly id?: string } = {},
): CapturedEvent {
  return anyEvent(type, data as JsonObject, links);
}

/** An event of any type and data. */
export function anyEvent(
  type: CapturedEvent['type'],
  data: JsonObject,
  links: EventLinks & { readonly id?: string } = {},
): CapturedEvent {
  made += 1;
  return { id: `event-${made}`, type, timestamp: toTimestamp(start), ...links, data };
}

export function envelope(changes: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId: '01JM0000000000000000000001',
    taskSlug: 'route-models',
    role: 'product-analyst',
    title: null,
    model: 'claude-sonnet-4-5',
    cwd: '/workspace',
    startedAt: '2026-03-01T09:30:00.000Z',
    completedAt: '2026-03-01T09:31:10.000Z',
    status: 'completed',
    ended: null,
    cost: 0.15,
    usage: { inputTokens: 300, outputTokens: 60, turns: 3 },
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'narrative',
    schemaVersion: envelopeSchemaVersion,
    ...changes,
  };
}

/**
 * Events of every shape of row, in random order: agents that come late, messages with deliveries and hooks, calls whose results come at once, far
 * away or never, model calls, long runs of harness records. `at` is the position of the first one.
 */
export function randomLog(random: () => number, count: number, at = 0): NewEvent[] {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const agents: (string | undefined)[] = [undefined];
  const open: { readonly toolCallId: string; readonly agentId?: string }[] = [];
  const said: { readonly id: string; readonly text: string }[] = [];
  const events: NewEvent[] = [];
  const add = (event: NewEvent) => void events.push(event);
  const of = () => {
    const agentId = pick(...agents);
    return agentId === undefined ? {} : { agentId };
  };
  while (events.length < count) {
    const number = at + events.length;
    const text = `${pick('Wien', 'naïve 東京', 'two\nlines', 'café 🙂', 'x'.repeat(90))} ${number}`;
    const kind = random();
    if (kind < 0.04) {
      const agentId = `agent_${number}`;
      agents.push(agentId);
      add({ type: 'agent:created', agentId, data: { name: `Agent ${number}`, languageModel: 'm' } });
    } else if (kind < 0.24) {
      const id = `said-${number}`;
      said.push({ id, text });
      add({ id, type: 'agent:text', ...of(), data: { text } } as NewEvent);
    } else if (kind < 0.34) {
      const heard =
        said.length > 0 && random() < 0.7 ? said[Math.floor(random() ** 0.3 * said.length)] : undefined;
      const source = heard === undefined ? { kind: 'user' } : { kind: 'agent', agentId: 'agent_0' };
      add({
        type: 'user:message',
        ...of(),
        ...(heard === undefined ? {} : { substance: heard.id }),
        data: { text: heard?.text ?? text, source },
      } as NewEvent);
    } else if (kind < 0.48) {
      const call = { toolCallId: `call-${number}`, ...of() };
      open.push(call);
      const { toolCallId, ...own } = call;
      add({
        type: 'agent:tool_call',
        ...own,
        data: { tool: pick('Bash', 'Read'), toolCallId, metadata: {}, input: { text } },
      });
    } else if (kind < 0.6 && open.length > 0) {
      const [call] = open.splice(Math.floor(random() ** 0.3 * open.length), 1);
      if (call === undefined) continue;
      const { toolCallId, ...own } = call;
      const status = pick('completed', 'error');
      add({
        type: 'agent:tool_result',
        ...own,
        data: { tool: 'Bash', toolCallId, metadata: {}, status, output: text, durationMs: 3 },
      });
    } else if (kind < 0.68) add({ type: 'agent:thinking', ...of(), data: { text } });
    else if (kind < 0.78) {
      const usage = { inputTokens: number, outputTokens: 2 };
      add({ type: 'agent:inference', ...of(), data: { model: 'm', usage, durationMs: 4 } });
    } else
      for (let left = random() < 0.02 ? 60 : Math.ceil(random() * 3); left > 0; left -= 1)
        add({ type: 'system:hook_progress', data: { hook: 'redact', progress: left } });
  }
  return events.slice(0, count);
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const usage = { inputTokens: 10, outputTokens: 5 };

const sampleData: { [T in KnownEventType]: EventData<T> } = {
  'agent:created': {
    name: 'tester',
    languageModel: 'model-1',
    inherits: { agentId: 'agent_001', through: 'e3' },
  },
  'agent:given': {
    role: 'tool',
    text: 'Hello.',
    thinking: { text: 'Hm.' },
    toolCalls: [{ toolCallId: 'c1', tool: 'Bash', input: { command: 'ls' } }],
    toolCallId: 'c1',
    tool: 'Bash',
    output: 'a',
    isError: true,
    source: { kind: 'external', what: 'file' },
  },
  'agent:terminated': { reason: 'done' },
  'agent:revived': { reason: 'needed again', missed: ['e7'], missingTools: ['Bash'] },
  'agent:undelivered': { text: 'Are you there?', source: { kind: 'agent', agentId: 'agent_001' } },
  'agent:system_prompt': { text: 'You test.', outcomesOf: ['D0'] },
  'agent:text': { text: 'Hello.' },
  'agent:rejected': { text: 'Hello!', thinking: 'Hm!', reason: 'too loud', hook: 'manners', retry: true },
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
    request: { tools: 'e15', parameters: null },
  },
  'agent:message_sent': { text: 'What did you find?', to: { dispatchId: 'D2' } },
  'agent:output': {
    parts: [
      { kind: 'text', text: 'x' },
      { kind: 'json', json: [1] },
      { kind: 'repr', repr: '[Function]' },
    ],
  },
  'user:message': { text: 'Go on.', source: { kind: 'agent', agentId: 'agent_001', dispatchId: 'd1' } },
  'content:stored': {
    sha256: 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78',
    size: 3,
    base64: 'QUJD',
  },
  'request:stored': {
    tools: [{ name: 'Bash', description: 'Runs a command.', inputSchema: { type: 'object' } }],
    parameters: { temperature: 0.2 },
  },
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
  'session:rewind': { keptThrough: 'e3', left: 'e9' },
  'session:fork': {
    from: { product: 'hansard', sessionId: 'D0', recordId: 'e3', dispatchId: 'D0' },
    kind: 'fork',
  },
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
  'harness:approval_requested': {
    toolCallId: 'c1',
    tool: 'Bash',
    kind: 'approval',
    by: 'limits',
    reason: 'it deletes',
    choices: ['yes', 'no'],
    deadline: '2026-01-02T00:00:00.000Z',
    default: 'refuse',
  },
  'harness:approval_given': {
    toolCallId: 'c1',
    decision: 'approve',
    by: 'user',
    note: 'once',
    scope: 'call',
  },
  'harness:answer_stopped': { by: 'user', reason: 'enough', messageId: 'e9', through: 'e3' },
  'harness:budget_reached': { scope: 'session', what: 'costUsd', limit: 5, spent: 4.2, isSpent: false },
  'harness:model_retried': { message: 'busy', attempt: 1, model: 'model-1', next: 'model-2', delayMs: 500 },
  'harness:call_started': { toolCallId: 'c1' },
  'harness:answer_held': { messageId: 'e9', text: 'Hello!', thinking: 'Hm!', call: { model: 'm' } },
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

export interface RecordedActivities {
  readonly events: CapturedEvent[];
  readonly deltas: Delta[];
}

/** The activities of an agent as a store would receive them. Throws if an event is not valid, or if two have one id. */
export function recorded(activities: readonly AgentActivity[]): RecordedActivities {
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

export function ofType(events: readonly CapturedEvent[], type: string): CapturedEvent[] {
  return events.filter((event) => event.type === type);
}

/** The data of the only event of a type. */
export function dataOf(events: readonly CapturedEvent[], type: string): JsonObject {
  const found = ofType(events, type);
  if (found.length !== 1) throw new Error(`${found.length} events of type ${type}, not 1`);
  return found[0]?.data ?? {};
}
