import type { JsonObject } from '@hansard/events';
import { factsOf } from '@hansard/facts';
import { renderContext } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import {
  answer,
  call,
  lines,
  outcome,
  prompt,
  readTranscript,
  record,
  text,
  typesOf,
  uuid,
} from './transcripts.ts';

const usage = (output: number) => ({ usage: { input_tokens: 3, output_tokens: output } });
const turnEnd = (number: number) =>
  record(number, { type: 'system', subtype: 'turn_duration', durationMs: 5 });

describe('the records of a transcript', () => {
  it('keep every field without a place in an event in the details of their first event', async () => {
    const { events } = await readTranscript(
      lines(prompt(1, 'hello', { gitBranch: 'main', todos: [{ a: 1 }] })),
    );
    expect(events).toEqual([
      {
        id: uuid(1),
        type: 'user:message',
        timestamp: '2026-03-01T09:30:01.000Z',
        data: {
          text: 'hello',
          source: { kind: 'user' },
          details: {
            isSidechain: false,
            userType: 'external',
            cwd: '/house',
            sessionId: 'session-1',
            version: '2.1.30',
            gitBranch: 'main',
            todos: [{ a: 1 }],
          },
        },
      },
    ]);
  });

  it('count the usage of a message once, by its last record, even with results between', async () => {
    const { events, summary } = await readTranscript(
      lines(
        answer(1, call('toolu_1', 'Bash', { command: 'a' }), { id: 'msg_a', ...usage(1) }),
        outcome(2, 'toolu_1', 'out'),
        answer(3, text('b'), { id: 'msg_a', ...usage(9) }),
        answer(4, text('c'), { id: 'msg_b', ...usage(7) }),
        turnEnd(5),
      ),
    );
    const inferences = events.filter(({ type }) => type === 'agent:inference');
    expect(
      inferences.map(({ messageId, data }) => [messageId, (data.usage as JsonObject).outputTokens]),
    ).toEqual([
      ['msg_a', 9],
      ['msg_b', 7],
    ]);
    expect(factsOf(events).usage).toMatchObject({ inputTokens: 6, outputTokens: 16 });
    expect(summary.counts).toEqual({});
  });

  it('hold back the usage of a message that may continue, and leave it out of the totals', async () => {
    const read = await readTranscript(lines(answer(1, text('a'), usage(4))));
    expect(typesOf(read)).toEqual(['session:init', 'agent:text']);
    expect(factsOf(read.events).usage).toBeNull();
    expect(read.summary).toMatchObject({ counts: {}, status: 'running' });
  });

  const stopHook = { type: 'hook_progress', hookEvent: 'Stop', hookName: 'Stop', command: 'x' };

  it.each<[string, readonly JsonObject[]]>([
    ['its last line', [answer(1, text('a'), { ...usage(4), stop_reason: 'end_turn' })]],
    ['a new prompt', [answer(1, text('a'), usage(4)), prompt(2, 'next')]],
    ['a hook for the end', [answer(1, text('a'), usage(4)), record(2, { type: 'progress', data: stopHook })]],
    [
      'a hook in an attachment',
      [
        answer(1, text('a'), usage(4)),
        record(2, { type: 'attachment', attachment: { ...stopHook, type: 'hook_success' } }),
      ],
    ],
  ])('record the usage of the last message once it is over: %s', async (_by, records) => {
    const { events, summary } = await readTranscript(lines(...records));
    const inferences = events.filter(({ type }) => type === 'agent:inference');
    expect(inferences).toMatchObject([{ id: 'msg_1:inference', data: { usage: { outputTokens: 4 } } }]);
    expect(factsOf(events).usage).toMatchObject({ outputTokens: 4 });
    expect(summary.counts).toEqual({});
  });

  it('give a message with a reason to stop on every line the same inference wherever the file ends', async () => {
    const ended = { id: 'msg_a', stop_reason: 'end_turn', ...usage(4) };
    const [first, last] = [answer(1, text('a'), ended), answer(2, text('b'), ended)];
    const inferenceOf = async (...records: readonly JsonObject[]) =>
      (await readTranscript(lines(...records))).events.find(({ type }) => type === 'agent:inference');
    expect(await inferenceOf(first)).toBeDefined();
    expect(await inferenceOf(first, last)).toEqual(await inferenceOf(first));
  });

  const asked = prompt(1, 'x');
  const calls = answer(2, call('toolu_1', 'Bash', { command: 'ls' }), { stop_reason: 'tool_use' });
  const ends = answer(2, text('a'), { stop_reason: 'end_turn' });
  const interrupted = prompt(3, '[Request interrupted by user]');
  const failed = answer(2, text('API Error'), { model: '<synthetic>' }, { isApiErrorMessage: true });

  it.each<[string, string, readonly JsonObject[]]>([
    ['running', 'a prompt without an answer', [asked]],
    ['running', 'a call without a result', [asked, calls]],
    ['running', 'a result without an answer', [asked, calls, outcome(3, 'toolu_1', 'out')]],
    ['running', 'an answer that may continue', [asked, answer(2, text('a'))]],
    ['running', 'a new prompt after an answer', [asked, ends, prompt(3, 'y')]],
    ['completed', 'an answer', [asked, ends]],
    ['completed', 'a sub-agent after the answer', [asked, ends, prompt(3, 'y', { isSidechain: true })]],
    ['completed', 'the end of a turn', [asked, answer(2, text('a')), turnEnd(3)]],
    ['completed', 'a command', [asked, ends, prompt(3, '<command-name>/clear</command-name>')]],
    ['completed', 'the exit', [asked, calls, prompt(3, '<command-name>/exit</command-name>')]],
    ['aborted', 'an interruption', [asked, calls, interrupted]],
    ['crashed', 'an error of the API', [asked, failed]],
  ])('have the status that the last turn shows: %s after %s', async (status, _last, records) => {
    const { summary } = await readTranscript(lines(...records));
    expect(summary.status).toBe(status);
  });

  it('keep later figures of a message that was over, and count it once', async () => {
    const read = await readTranscript(
      lines(
        answer(1, text('a'), { id: 'A', ...usage(1) }),
        answer(2, text('b'), { id: 'B', ...usage(2) }),
        answer(3, text('c'), { id: 'A', ...usage(5) }),
        turnEnd(4),
      ),
    );
    expect(factsOf(read.events).usage).toMatchObject({ outputTokens: 3 });
    expect(read.summary.openCalls).toMatchObject([
      { id: 'A:inference:again', data: { usage: { outputTokens: 4 } } },
    ]);
    expect(read.summary.counts).toEqual({});
    expect(read.events.find(({ id }) => id === uuid(3))?.data.details).toMatchObject({
      usage: { output_tokens: 5 },
    });
  });

  it.each([
    ['a person', prompt(1, 'x'), 'user'],
    ['meta', prompt(1, 'x', { isMeta: true }), 'system'],
    ['a notification of a task', prompt(1, 'x', { origin: { kind: 'task-notification' } }), 'system'],
    ['what a local command printed', prompt(1, '<local-command-stdout>x</local-command-stdout>'), 'system'],
    [
      'an error that no model wrote',
      answer(1, text('x'), { model: '<synthetic>', ...usage(0) }, { isApiErrorMessage: true }),
      'system',
    ],
    [
      'a prompt that waited',
      record(1, {
        type: 'attachment',
        attachment: { type: 'queued_command', prompt: 'x', commandMode: 'prompt' },
      }),
      'user',
    ],
  ])('name the speaker: %s', async (_who, only, kind) => {
    const { events } = await readTranscript(lines(only));
    expect(events).toMatchObject([{ type: 'user:message', data: { source: { kind } } }]);
  });

  it('give each thread of old sidechains an agent of its own, without a guess at its call', async () => {
    const side = { isSidechain: true };
    const { events } = await readTranscript(
      lines(
        answer(1, call('toolu_1', 'Task', { prompt: 'first' })),
        answer(2, call('toolu_2', 'Task', { prompt: 'second' })),
        prompt(3, 'second', { ...side, parentUuid: null }),
        prompt(4, 'first', { ...side, parentUuid: null }),
        answer(5, text('two'), {}, { ...side, parentUuid: uuid(3) }),
        answer(6, text('one'), {}, { ...side, parentUuid: uuid(4) }),
      ),
    );
    const created = events.filter(({ type }) => type === 'agent:created');
    expect(created.map(({ agentId, cause }) => [agentId, cause])).toEqual([
      [`sidechain-${uuid(3)}`, undefined],
      [`sidechain-${uuid(4)}`, undefined],
    ]);
    const said = events.filter(({ type }) => type === 'agent:text');
    expect(said.map(({ agentId, data }) => [agentId, data.text])).toEqual([
      [`sidechain-${uuid(3)}`, 'two'],
      [`sidechain-${uuid(4)}`, 'one'],
    ]);
  });

  const boundary = (number: number, metadata: JsonObject) =>
    record(number, {
      type: 'system',
      subtype: 'compact_boundary',
      parentUuid: null,
      content: 'Compacted',
      compactMetadata: metadata,
    });

  it('report a compaction with its first kept event and its summary', async () => {
    const metadata = { trigger: 'auto', preTokens: 9, preservedSegment: { headUuid: uuid(1) } };
    const { events } = await readTranscript(
      lines(prompt(1, 'x'), boundary(2, metadata), prompt(3, 'sum', { isCompactSummary: true })),
    );
    expect(events.slice(1)).toMatchObject([
      { id: uuid(2), type: 'system:compact_boundary', data: { compactMetadata: metadata } },
      {
        id: uuid(3),
        type: 'session:compaction',
        cause: uuid(2),
        data: { trigger: 'auto', preTokens: 9, keptFrom: uuid(1), summary: 'sum' },
      },
    ]);
  });

  it('report a summary without its boundary, and a boundary without a summary', async () => {
    const { events } = await readTranscript(
      lines(prompt(1, 'sum', { isCompactSummary: true }), boundary(2, { trigger: 'auto' }), prompt(3, 'on')),
    );
    expect(events).toMatchObject([
      { type: 'session:compaction', data: { trigger: 'unknown', summary: 'sum' } },
      { type: 'system:compact_boundary' },
      { type: 'user:message', data: { text: 'on', source: { kind: 'user' } } },
    ]);
  });

  it('render as the summary and all messages after it, once the context was compacted', async () => {
    const { events } = await readTranscript(
      lines(
        prompt(1, 'old question'),
        answer(2, text('old answer')),
        boundary(3, { trigger: 'manual', preTokens: 9 }),
        prompt(4, 'They met.', { isCompactSummary: true }),
        prompt(5, 'new question'),
        answer(6, text('new answer')),
        prompt(7, 'next question'),
      ),
    );
    expect(renderContext(events).messages.map(({ text }) => text)).toEqual([
      'They met.',
      'new question',
      'new answer',
      'next question',
    ]);
  });

  it.each([
    [
      'hooks as progress',
      record(1, { type: 'progress', data: { type: 'hook_progress' }, toolUseID: 't' }),
      'system:hook_progress',
    ],
    [
      'hooks as attachments',
      record(1, { type: 'attachment', attachment: { type: 'hook_success', stdout: 'o' } }),
      'system:hook_response',
    ],
    ['bookkeeping', { type: 'permission-mode', permissionMode: 'plan', sessionId: 's' }, 'session:status'],
    [
      'an error of the API',
      record(1, { type: 'system', subtype: 'api_error', error: { a: 1 } }),
      'system:api_error',
    ],
    [
      'the queue',
      { type: 'queue-operation', operation: 'enqueue', sessionId: 's' },
      'system:queue_operation',
    ],
    [
      'a kind of a newer version',
      { type: 'marble-origami', sessionId: 's', a: [1] },
      'system:marble_origami',
    ],
  ])('become the right event: %s', async (_what, only: JsonObject, type) => {
    const { events } = await readTranscript(lines(only));
    expect(events.map((event) => event.type)).toEqual([type]);
    for (const [key, value] of Object.entries(only)) {
      if (['type', 'subtype', 'uuid', 'timestamp'].includes(key)) continue;
      expect(events[0]?.data[key], key).toEqual(value);
    }
  });

  it('leave out input and output of tools at narrative fidelity', async () => {
    const secret = 'what the file says';
    const read = await readTranscript(
      lines(
        answer(1, call('toolu_1', 'Write', { file_path: '/a', content: secret })),
        outcome(2, 'toolu_1', secret, { toolUseResult: { stdout: secret } }),
        record(3, { type: 'attachment', attachment: { type: 'file', filename: '/a', content: secret } }),
        record(4, { type: 'progress', data: { type: 'bash_progress', output: secret } }),
      ),
      { fidelity: 'narrative' },
    );
    expect(JSON.stringify(read.events)).not.toContain(secret);
    expect(read.events.find(({ type }) => type === 'agent:tool_call')?.data.target).toBe('/a');
  });
});
