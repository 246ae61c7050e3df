import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import type { CommunicationHost } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it } from 'vitest';
import { latestTextIn, toolResultsIn } from '../../../../scripts/engines/scripted-messages-api.ts';
import { createSessionStore } from '../../src/session-store.ts';
import { dataOf, ofType } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

describe('a live dispatch', () => {
  it('is recorded as a replay of it would be: thinking, text, tools, usage and its end', async () => {
    const { events, envelope, deltas, requests, cwd } = await live.run((request) =>
      toolResultsIn(request).size > 0
        ? [{ type: 'text', text: 'It says hello.' }]
        : {
            content: [
              { type: 'thinking', thinking: 'I write it first.' },
              { type: 'text', text: 'Writing.' },
              {
                type: 'tool_use',
                id: 'toolu_1',
                name: 'Bash',
                input: { command: 'echo hello > a.txt; cat a.txt', description: 'write a file' },
              },
            ],
            usage: { cache_read_input_tokens: 7, cache_creation_input_tokens: 3 },
          },
    );
    const isTold = ({ type }: { type: string }) => !/^system:|^session:status$/.test(type);
    const told = events.filter(isTold).map(({ type }) => type);
    expect(told).toEqual([
      'user:message',
      'session:init',
      'agent:thinking',
      'agent:text',
      'agent:tool_call',
      'agent:inference',
      'agent:tool_result',
      'agent:text',
      'agent:inference',
      'session:complete',
    ]);
    expect(dataOf(events, 'user:message').text).toBe('Do it.');
    expect(dataOf(events, 'session:init')).toMatchObject({ model: 'claude-sonnet-4-5', cwd });
    expect(dataOf(events, 'agent:tool_result')).toMatchObject({
      toolCallId: 'toolu_1',
      status: 'completed',
      metadata: { exitCode: 0 },
    });
    expect(deltas.map(({ type }) => type)).toContain('delta:text');
    expect(requests).toHaveLength(2);
    expect(envelope).toMatchObject({
      status: 'completed',
      model: 'claude-sonnet-4-5',
      usage: { inputTokens: 200, outputTokens: 40, cacheReadTokens: 7, cacheWriteTokens: 3, turns: 2 },
    });
    expect(envelope.cost).toBeGreaterThan(0);
  });

  it('ends with the structured result that was asked for', async () => {
    const outputSchema = {
      type: 'object',
      properties: { verdict: { enum: ['pass', 'fail'] } },
      required: ['verdict'],
      additionalProperties: false,
    };
    const { envelope, events } = await live.run(
      () => [{ type: 'tool_use', id: 'toolu_s', name: 'StructuredOutput', input: { verdict: 'pass' } }],
      { outputSchema, agentOptions: { permissionMode: 'default' } },
    );
    expect(dataOf(events, 'session:complete').structuredResult).toEqual({ verdict: 'pass' });
    expect(envelope).toMatchObject({ status: 'completed', structuredResult: { verdict: 'pass' } });
  });

  it('an API that stays overloaded is retried, and the end is a failed one', async () => {
    const { envelope, events, requests } = await live.run(() => ({ status: 529, error: 'Overloaded' }), {
      env: { CLAUDE_CODE_MAX_RETRIES: '1' },
    });
    expect(requests).toHaveLength(2);
    expect(dataOf(events, 'system:api_retry')).toMatchObject({ attempt: 1, error_status: 529 });
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'failed',
      reason: 'api_error',
      errors: [expect.stringContaining('529')],
    });
    expect(ofType(events, 'harness:error')).toEqual([]);
    expect(envelope.status).toBe('crashed');
  });

  it('an API that refuses for a moment only, or for other reasons, is asked again', async () => {
    const failures = [401, 401, 429];
    const { envelope, events } = await live.run((_, index) => {
      const status = failures[index];
      return status === undefined ? [{ type: 'text', text: 'At last.' }] : { status };
    });
    expect(ofType(events, 'system:api_retry').map(({ data }) => data.error_status)).toEqual(failures);
    expect(dataOf(events, 'session:complete')).toMatchObject({ status: 'completed', result: 'At last.' });
    expect(envelope.status).toBe('completed');
  });

  it('a message that a communication provider brings meanwhile is heard in the same turn, and recorded once', async () => {
    const sent = Promise.withResolvers<void>();
    let host: CommunicationHost | undefined;
    const communication = createCommunicationHub([
      {
        contract: 1,
        start(given) {
          host = given;
        },
        async eventRecorded({ event: { type } }) {
          if (type !== 'session:init') return;
          await host?.deliver({ text: 'Mind the gap.' });
          sent.resolve();
        },
      },
    ]);
    await communication.start();
    const { events, requests, envelope } = await live.run(
      async (request, index) => {
        if (index > 0) return [{ type: 'text', text: `You said: ${latestTextIn(request)}` }];
        await sent.promise;
        return [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'true' } }];
      },
      { communication },
    );
    await communication.close();
    expect(ofType(events, 'user:message').map(({ data }) => data.text)).toEqual(['Do it.', 'Mind the gap.']);
    expect(JSON.stringify(requests[1]?.messages)).toContain('Mind the gap.');
    expect(ofType(events, 'session:init')).toHaveLength(1);
    expect(envelope.status).toBe('completed');
  });

  it('another dispatch resumes its session, and counts only its own usage', async () => {
    const first = await live.run(() => [{ type: 'text', text: 'The word is plum.' }]);
    const sessionId = String(dataOf(first.events, 'session:init').sessionId);
    const second = await live.run(() => [{ type: 'text', text: 'It was plum.' }], {
      folder: first.folder,
      prompt: 'Which word?',
      resumeSessionId: sessionId,
    });
    expect(JSON.stringify(second.requests[0]?.messages)).toContain('The word is plum.');
    expect(dataOf(second.events, 'session:init').sessionId).toBe(sessionId);
    expect(ofType(second.events, 'agent:text').map(({ data }) => data.text)).toEqual(['It was plum.']);
    expect(second.envelope.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    expect(second.envelope.cost).toBeCloseTo(first.envelope.cost ?? 0, 10);
  });

  it('another dispatch resumes its session from the log alone, after the files of the engine were deleted', async () => {
    const taskDir = 'tea-shop/tasks/stock-taking';
    const root = live.newFolder();
    const open = () => openDispatchStore(openJsonFileStore({ root }));
    const first = open();
    const { events, folder, cwd } = await live.run(
      (request) =>
        toolResultsIn(request).size > 0
          ? [{ type: 'text', text: 'There are 41 tins.' }]
          : [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'echo 41' } }],
      {
        store: first,
        taskDir,
        agentOptions: { sessionStore: createSessionStore({ store: first, taskDir }) },
      },
    );
    await first.close();
    rmSync(join(folder, 'home'), { recursive: true });

    await using store = open();
    const second = await live.run(() => [{ type: 'text', text: 'I said 41.' }], {
      store,
      taskDir,
      cwd,
      prompt: 'How many did you say?',
      resumeSessionId: String(dataOf(events, 'session:init').sessionId),
      agentOptions: { sessionStore: createSessionStore({ store, taskDir }) },
    });
    expect(second.requests[0]?.messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user'],
    ]);
    expect(JSON.stringify(second.requests[0]?.messages)).toContain('There are 41 tins.');
    expect(second.envelope).toMatchObject({ status: 'completed', usage: { inputTokens: 100, turns: 1 } });
    expect(ofType([...events, ...second.events], 'system:mirror_error')).toEqual([]);
    const roles = (await store.getDispatchEnvelopes(taskDir)).map(({ role, status }) => `${role} ${status}`);
    expect(roles.sort()).toEqual(['claude-session completed', 'tester completed', 'tester completed']);
  });

  it('does not resume a session that the engine does not have, and reports which and why', async () => {
    const resumeSessionId = '7f1f3c5e-0b1e-4a55-9d8e-2f6f6a3f6c11';
    const { envelope, events, requests } = await live.run(() => [], { resumeSessionId });
    expect(requests).toEqual([]);
    const error = dataOf(events, 'harness:error');
    expect(error.code).toBe('AGENT_SESSION_MISSING');
    expect(error.message).toContain(resumeSessionId);
    expect(envelope.status).toBe('crashed');
  });
});
