import { type EventData, eventDataSchemas, type KnownEventType } from '@hansard/events';
import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { AgentNames, eventWords, lineSegments, renderLine, type Words, wordsLine } from '../../src/index.ts';

const hostile = '\x1b[2Jx\ny';

/** An event as the parts of one line. */
function eventLine(...[recorded, names]: Parameters<typeof eventWords>) {
  const words = eventWords(recorded, names);
  const { agent, word: kind, head: target, status, text } = wordsLine(words);
  return { agent, kind, target, status, text, tone: words.tone };
}

/** Words with other texts in some places. */
function changed(words: Words, changes: Readonly<Record<string, string>>): Words {
  return {
    ...words,
    spans: words.spans.map((span) => ({ ...span, text: changes[span.label] ?? span.text })),
    blocks: [{ kind: 'text', source: 'content', text: changes.text ?? 'boom', isProse: false }],
  };
}

describe('an event in words', () => {
  it('gives a text with its time and its agent', () => {
    const line = eventLine(
      event('agent:text', { text: 'Two files.\nBoth small.' }, { agentId: 'agent_002' }),
    );
    expect(line).toEqual({
      agent: 'agent_002',
      kind: 'text',
      target: '',
      status: '',
      text: 'Two files.⏎Both small.',
      tone: 'plain',
    });
  });

  it('gives a tool call with its target, or with its arguments if it has no target', () => {
    const call = { toolCallId: 't', tool: 'Bash', metadata: { command: 'ls' } };
    expect(eventLine(event('agent:tool_call', { ...call, target: 'ls' }))).toMatchObject({
      kind: 'call',
      target: 'Bash ls',
      text: '',
    });
    expect(eventLine(event('agent:tool_call', call))).toMatchObject({ target: 'Bash', text: 'command ls' });
    expect(eventLine(event('agent:tool_call', { ...call, input: { depth: 2 } }))).toMatchObject({
      text: '{"depth":2}',
    });
  });

  it('gives a result with status, duration and metadata, and the target only once', () => {
    const line = eventLine(
      event('agent:tool_result', {
        toolCallId: 't',
        tool: 'Bash',
        target: 'ls',
        status: 'completed',
        durationMs: 340,
        metadata: { command: 'ls', exitCode: 0 },
      }),
    );
    expect(line).toMatchObject({
      kind: 'result',
      target: 'Bash ls',
      status: 'completed 340ms',
      text: 'exitCode 0',
      tone: 'good',
    });
  });

  it('gives a failed result with its error', () => {
    const result = {
      toolCallId: 't',
      tool: 'Read',
      status: 'error',
      error: 'no such file',
      metadata: {},
    } as const;
    expect(eventLine(event('agent:tool_result', result))).toMatchObject({
      status: 'error',
      text: 'no such file',
      tone: 'bad',
    });
  });

  it('gives a denial with the hook and the reason', () => {
    const decision = { hook: 'no-delete', on: 'tool_call', decision: 'deny', reason: 'not here' } as const;
    expect(eventLine(event('harness:hook_decision', decision))).toMatchObject({
      kind: 'hook',
      target: 'no-delete denied the tool call',
      status: '',
      text: 'not here',
      tone: 'bad',
    });
  });

  it('gives the end of a session with its result, and with its errors', () => {
    expect(eventLine(event('session:complete', { status: 'completed', result: 'done' }))).toMatchObject({
      kind: 'complete',
      status: 'completed',
      text: 'done',
      tone: 'good',
    });
    expect(
      eventLine(
        event('session:complete', { status: 'failed', reason: 'error_max_turns', errors: ['too long'] }),
      ),
    ).toMatchObject({ status: 'failed', text: 'error_max_turns, too long', tone: 'bad' });
    expect(
      eventLine(event('session:complete', { status: 'failed', result: 'half done', errors: ['boom'] })),
    ).toMatchObject({ text: 'half done⏎boom' });
  });

  it('shows an event of an unknown type with its type and data', () => {
    expect(eventLine(anyEvent('game:vote', { player: 'Jack', for: ['Jill'] }))).toMatchObject({
      kind: 'game:vote',
      text: '{"player":"Jack","for":["Jill"]}',
    });
  });

  it('shows an event whose data a newer version changed like one of an unknown type', () => {
    expect(eventLine(anyEvent('agent:text', { content: [{ text: 'hi' }] }, { v: 2 }))).toMatchObject({
      kind: 'agent:text',
      text: '{"content":[{"text":"hi"}]}',
    });
  });

  it.each([
    ['session_state_changed', { state: 'running', session_id: 's', uuid: 'u' }, 'state running'],
    ['command_lifecycle', { command_uuid: 'u', state: 'queued' }, 'state queued'],
    ['worker_shutting_down', {}, ''],
    ['background_tasks_changed', { tasks: [{ task_id: 'a', description: 'count' }] }, 'tasks 1'],
    [
      'session_writes_lost',
      { error_code: 'ENOSPC', lost: ['transcript'] },
      'error_code ENOSPC, lost transcript',
    ],
    [
      'hook_report',
      {
        parentUuid: null,
        isSidechain: false,
        cwd: '/w',
        data: { hookName: 'pre', ran: false, of: { a: { b: 1 } } },
      },
      'hookName pre, ran false, a …',
    ],
  ])('describes a record of an engine in words: %s', (word, data, text) => {
    expect(eventLine(anyEvent(`system:${word}`, data))).toMatchObject({
      kind: 'engine',
      target: word.replaceAll('_', ' '),
      text,
      tone: 'dim',
    });
  });

  it('keeps a record of an engine on one line of limited length, whatever its size', () => {
    const { text } = eventLine(anyEvent('system:memory_recall', { found: `a\nb${'x'.repeat(100_000)}` }));
    expect(text).toMatch(/^found a⏎bx+…$/);
    expect(text.length).toBeLessThan(500);
  });

  it('shows fields that are bookkeeping in transcripts only, if the record is not of a transcript', () => {
    const { text } = eventLine(anyEvent('system:plugin_install', { slug: 'lint', version: '2.1.0' }));
    expect(text).toBe('slug lint, version 2.1.0');
  });

  it('shows a repeated field of a record once', () => {
    const snapshot = { messageId: 'm', snapshot: { messageId: 'm', files: 2 } };
    expect(eventLine(anyEvent('system:file_history_snapshot', snapshot)).text).toBe('messageId m, files 2');
  });

  it('shows the known name of the sender of a message, but the id of an agent of another dispatch', () => {
    const names = new AgentNames();
    names.add('agent_002', 'Jack');
    const from = (source: { agentId: string; dispatchId?: string }) =>
      eventLine(event('user:message', { text: 'Hi.', source: { kind: 'agent', ...source } }), names).target;
    expect(from({ agentId: 'agent_002' })).toBe('from agent Jack');
    expect(from({ agentId: 'agent_003' })).toBe('from agent agent_003');
    expect(from({ agentId: 'agent_002', dispatchId: 'D2' })).toBe('from agent agent_002 D2');
  });

  it('says that a message came from outside, and from what if the log says so', () => {
    const from = (source: EventData<'user:message'>['source']) =>
      eventLine(event('user:message', { text: 'Hi.', source })).target;
    expect(from({ kind: 'external', what: 'file' })).toBe('from external (file)');
    expect(from({ kind: 'external' })).toBe('from external');
    expect(from({ kind: 'system' })).toBe('from system');
  });

  it('describes every type of the vocabulary', () => {
    const kinds = Object.entries(examples).map(([type, data]) =>
      eventLine(event(type as KnownEventType, data as never)),
    );
    expect(Object.keys(examples)).toEqual(Object.keys(eventDataSchemas));
    expect(kinds.filter(({ kind }) => kind.includes(':') || kind.length > 8)).toEqual([]);
    expect(kinds.map(({ kind, target, text }) => [kind, target, text].join(' | '))).toMatchInlineSnapshot(`
      [
        "created | Jack | haiku",
        "given | user | Hello.",
        "ended |  | The work is done.",
        "revived |  | Needed again., 2 messages not heard, without its tools: Bash",
        "missed | from user | Are you there?",
        "system |  | You are Jack.",
        "text |  | Hello.",
        "rejected | by the hook review | nobody received the answer, and the agent answers again",
        "thinking |  | Hm.",
        "call | Bash ls | ",
        "result | Bash ls | lines 2",
        "piece |  | A discussion begins.",
        "model | haiku | 1.2K in, 60 out, 5.2K cache read, 10 cache written, 1 turn, $0.0018, end_turn",
        "sent | to D2 | What did you find?",
        "output |  | seen⏎{"a":1}⏎[image/png 3 bytes]⏎Set {2}⏎Socket{}",
        "message | from agent agent_001 | Stop.",
        "content |  | 70 bytes, sha256 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "request |  | 2 tools: Bash, Read, temperature 0.2",
        "init | haiku | session s, /work, 2 tools",
        "complete |  | Done.",
        "compact |  | auto, from 120K tokens, to 20K tokens, So far …",
        "rewind |  | back to e3, which is the last event that the agent keeps",
        "fork | of claude-code s0 | fork",
        "limit |  | status allowed, resetsAt 5",
        "status |  | requesting",
        "loop | Bash ls | 5 times in the last 10 calls (limit 5)",
        "loop | Bash ls | 5 times in the last 10 calls (limit 5)",
        "stall |  | nothing for 1m 01s (limit 1m 00s)",
        "timeout |  | ran for 1h 00m (limit 1h 00m)",
        "abort | by user | enough",
        "error | STORE_CLOSED | boom",
        "hook | redact altered the delivery | a secret",
        "asked | limits asked a person about Bash | it deletes",
        "answered | user refused, for the whole session | not here",
        "stopped | by user | enough, what had been said is kept",
        "budget | of the session | $4.20 of $5.00, nearly spent",
        "retry | attempt 1, model-1 | busy, then with model-2, after 500ms",
        "started |  | the approved call is made",
        "held |  | hooks are asked about the answer",
        "files |  | files a.txt",
        "hook | started | hook pre",
        "hook | progress | output half",
        "hook | response | exitCode 0",
        "task | started | taskId x",
        "task | progress | taskId x",
        "task | updated | taskId x, status done",
        "task | notification | summary ready",
        "notice |  | text hello",
      ]
    `);
  });

  it.each([
    ['text', event('agent:text', { text: hostile })],
    ['target', event('agent:tool_call', { toolCallId: 't', tool: hostile, target: hostile, metadata: {} })],
    ['error', event('harness:error', { message: hostile, code: hostile })],
    ['name', event('agent:created', { name: hostile })],
    ['field of an unknown type', anyEvent('game:vote', { [hostile]: '\x9b2J\u202e' })],
    ['type', anyEvent('game:\x1b[2J', {})],
    ['type of an engine', anyEvent('system:\x1b[2J', { [hostile]: { [hostile]: [hostile] } })],
  ])('holds no control characters when the %s does', (_, hostileEvent) => {
    for (const part of Object.values(eventLine({ ...hostileEvent, agentId: hostile }, new AgentNames())))
      expect(String(part)).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});

describe('the names of agents', () => {
  const created = (agentId: string, name: string) => event('agent:created', { name }, { agentId });
  const says = (agentId?: string) =>
    event('agent:text', { text: 'Hi.' }, agentId === undefined ? {} : { agentId });

  it('are shown from the event that gives them, and ids before it', () => {
    const names = new AgentNames();
    const lines = [says('a1'), created('a1', 'Ben'), says('a1'), says('a2'), says()];
    expect(lines.map((one) => eventLine(one, names).agent)).toEqual(['a1', 'Ben', 'Ben', 'a2', '']);
    expect(eventLine(says('a1')).agent).toBe('a1');
  });

  it('are followed by the id as soon as several agents have the same name', () => {
    const names = new AgentNames();
    const lines = [created('a1', 'Explore'), says('a1'), created('a2', 'Explore'), says('a1'), says('a2')];
    expect(lines.map((one) => eventLine(one, names).agent)).toEqual([
      'Explore',
      'Explore',
      'Explore a2',
      'Explore a1',
      'Explore a2',
    ]);
  });

  it('are those of the first event that created the agent, in a shape that this version knows', () => {
    const names = new AgentNames();
    for (const one of [
      anyEvent('agent:created', { name: 7 }, { agentId: 'a1' }),
      created('a1', 'Ben'),
      created('a1', 'Tom'),
      created('a2', 'Tom'),
    ])
      names.learn(one);
    expect([names.of('a1'), names.of('a2')]).toEqual(['Ben', 'Tom']);
  });
});

describe('renderLine', () => {
  const line = eventWords(
    event(
      'agent:tool_result',
      {
        toolCallId: 't',
        tool: 'Bash',
        target: 'make',
        status: 'error',
        durationMs: 1_200,
        error: 'boom',
        metadata: {},
      },
      { agentId: 'agent_002' },
    ),
  );

  it('joins the parts in one line', () => {
    expect(renderLine(line)).toBe('09:30:00  (agent_002)  result    Bash make  error 1.2s  boom');
  });

  it('shows the role for lines of several dispatches', () => {
    expect(renderLine(line, { role: 'ts-dev' })).toMatch(/^09:30:00 {2}ts-dev {2}\(agent_002\)/);
  });

  it('cuts a long text at the width and marks the cut', () => {
    const long = changed(line, { agent: '', text: 'x'.repeat(500) });
    const cut = renderLine(long, { width: 60 });
    expect(cut).toHaveLength(60);
    expect(cut).toMatch(/^09:30:00 {2}result {4}Bash make {2}error 1\.2s {2}x+…$/);
    expect(renderLine(long)).toContain('x'.repeat(500));
  });

  it('counts wide characters as two columns and never cuts one', () => {
    const wide = renderLine(changed(line, { text: '漢字'.repeat(40) }), { width: 70 });
    expect(wide).toMatch(/[漢字]…$/);
    expect(wide.length + (wide.match(/[漢字]/g)?.length ?? 0)).toBeLessThanOrEqual(70);
    expect(renderLine(changed(line, { text: '👩‍💻'.repeat(40) }), { width: 70 })).toMatch(/👩‍💻…$/);
  });

  it('leaves room for status and duration beside a long target', () => {
    const cut = renderLine(changed(line, { agent: '', head: 't'.repeat(200) }), { width: 60 });
    expect(cut).toMatch(/…/);
    expect(cut).toMatch(/error 1\.2s/);
  });

  it('marks the cut if a whole part is left out', () => {
    for (let width = 1; width <= 50; width += 1) {
      const cut = renderLine(line, { width });
      expect(cut.endsWith('…'), `width ${width}: ${cut}`).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(width);
    }
  });

  it('neutralises the parts of a line that a caller made', () => {
    expect(renderLine(changed(line, { agent: '\x1b[31m' }), { role: 'a\nb' })).toContain('a⏎b  (␛[31m)');
  });

  it('gives the same line in parts, for colours', () => {
    const segments = lineSegments(line, { width: 40 });
    expect(segments.map(({ part }) => part)).toEqual(['time', 'agent', 'word', 'head']);
    expect(segments.map(({ text }) => text).join('')).toBe(renderLine(line, { width: 40 }));
  });
});

const loop = { tool: 'Bash', target: 'ls', count: 5, limit: 5, window: 10 };
const usage = {
  inputTokens: 1_200,
  outputTokens: 60,
  cacheReadTokens: 5_200,
  cacheWriteTokens: 10,
  turns: 1,
};
const examples: Record<KnownEventType, unknown> = {
  'agent:created': { name: 'Jack', languageModel: 'haiku' },
  'agent:given': { role: 'user', text: 'Hello.' },
  'agent:terminated': { reason: 'The work is done.' },
  'agent:revived': { reason: 'Needed again.', missed: ['e1', 'e2'], missingTools: ['Bash'] },
  'agent:undelivered': { text: 'Are you there?', source: { kind: 'user' } },
  'agent:system_prompt': { text: 'You are Jack.' },
  'agent:text': { text: 'Hello.' },
  'agent:rejected': { text: 'A secret.', reason: 'it has a secret', hook: 'review', retry: true },
  'agent:thinking': { text: 'Hm.', signature: 'abc' },
  'agent:tool_call': { toolCallId: 't', tool: 'Bash', target: 'ls', metadata: {} },
  'agent:tool_result': {
    toolCallId: 't',
    tool: 'Bash',
    target: 'ls',
    status: 'completed',
    metadata: { lines: 2 },
  },
  'agent:piece_of_text': { text: 'A discussion begins.' },
  'agent:inference': { model: 'haiku', usage, costUsd: 0.0018, stopReason: 'end_turn' },
  'agent:message_sent': { text: 'What did you find?', to: { dispatchId: 'D2' } },
  'agent:output': {
    parts: [
      { kind: 'text', text: 'seen' },
      { kind: 'json', json: { a: 1 } },
      { kind: 'image', mediaType: 'image/png', base64: 'AAAA' },
      { kind: 'value', encoding: 'devalue', encoded: '[["Set",1],2]' },
      { kind: 'repr', repr: 'Socket{}' },
    ],
  },
  'user:message': { text: 'Stop.', source: { kind: 'agent', agentId: 'agent_001' } },
  'content:stored': { sha256: 'a'.repeat(64), size: 70 },
  'request:stored': { tools: [{ name: 'Bash' }, { name: 'Read' }], parameters: { temperature: 0.2 } },
  'session:init': { model: 'haiku', sessionId: 's', cwd: '/work', tools: ['Bash', 'Read'] },
  'session:complete': { status: 'completed', result: 'Done.' },
  'session:compaction': { trigger: 'auto', preTokens: 120_000, postTokens: 20_000, summary: 'So far …' },
  'session:rewind': { keptThrough: 'e3' },
  'session:fork': { from: { product: 'claude-code', sessionId: 's0' }, kind: 'fork' },
  'session:rate_limit': { status: 'allowed', resetsAt: 5 },
  'session:status': { status: 'requesting' },
  'harness:loop_warning': loop,
  'harness:loop_kill': loop,
  'harness:stall': { idleMs: 61_000, limitMs: 60_000 },
  'harness:timeout': { elapsedMs: 3_600_000, limitMs: 3_600_000 },
  'harness:abort': { reason: 'enough', by: 'user' },
  'harness:error': { message: 'boom', code: 'STORE_CLOSED' },
  'harness:hook_decision': { hook: 'redact', on: 'delivery', decision: 'alter', reason: 'a secret' },
  'harness:approval_requested': {
    toolCallId: 'c1',
    tool: 'Bash',
    kind: 'approval',
    by: 'limits',
    reason: 'it deletes',
  },
  'harness:approval_given': {
    toolCallId: 'c1',
    decision: 'refuse',
    by: 'user',
    note: 'not here',
    scope: 'session',
  },
  'harness:answer_stopped': { by: 'user', reason: 'enough', messageId: 'e9' },
  'harness:budget_reached': { scope: 'session', what: 'costUsd', limit: 5, spent: 4.2, isSpent: false },
  'harness:model_retried': { message: 'busy', attempt: 1, model: 'model-1', next: 'model-2', delayMs: 500 },
  'harness:call_started': { toolCallId: 'c1' },
  'harness:answer_held': { messageId: 'e9', text: 'A secret.' },
  'system:files_persisted': { files: ['a.txt'] },
  'system:hook_started': { hook: 'pre' },
  'system:hook_progress': { output: 'half' },
  'system:hook_response': { exitCode: 0 },
  'system:task_started': { taskId: 'x' },
  'system:task_progress': { taskId: 'x' },
  'system:task_updated': { taskId: 'x', patch: { status: 'done' } },
  'system:task_notification': { summary: 'ready' },
  'system:notice': { text: 'hello', nothing: null },
};
