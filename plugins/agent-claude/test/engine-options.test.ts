import { resolve } from 'node:path';
import type { Options, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { CapturedEvent } from '@hansard/events';
import type { AgentRunRequest } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import type { ClaudeAgentOptions } from '../src/claude-agent-options.ts';
import plugin, { createClaudeAgent } from '../src/index.ts';
import { ofType, runAgent } from './run-agent.ts';

interface Asked {
  readonly options: Options;
  readonly prompts: unknown[];
}

/** An SDK that answers each message at once, and ends when nothing more is said. */
function fakeSdk(onEnd: (queries: readonly Asked[]) => void | Promise<void> = () => {}) {
  const queries: Asked[] = [];
  async function* query({ prompt, options }: { prompt: AsyncIterable<SDKUserMessage>; options: Options }) {
    const asked: Asked = { options, prompts: [] };
    queries.push(asked);
    for await (const message of prompt) {
      asked.prompts.push(message.message.content);
      const fields = { session_id: 'session-1', user_message_uuids: [message.uuid].filter(Boolean) };
      const answer = { is_error: false, result: 'Yes.', num_turns: 1, total_cost_usd: 0.25 };
      yield { type: 'result', subtype: 'success', ...answer, ...fields };
      yield { type: 'system', subtype: 'session_state_changed', state: 'idle', session_id: 'session-1' };
    }
    await onEnd(queries);
  }
  return { queries, loadSdk: async () => ({ query }) };
}

async function optionsFor(
  agent: ClaudeAgentOptions = {},
  request: Partial<AgentRunRequest> = {},
): Promise<Options> {
  const { queries, loadSdk } = fakeSdk();
  await runAgent(createClaudeAgent({ ...agent, loadSdk }), request);
  expect(queries).toHaveLength(1);
  return queries[0]?.options ?? {};
}

describe('what the SDK is asked for', () => {
  it('without options: nothing of the machine but its environment counts, and nobody is asked', async () => {
    const options = await optionsFor();
    expect(options).toMatchObject({
      permissionMode: 'default',
      permissionPrompts: 'none',
      allowDangerouslySkipPermissions: false,
      settingSources: [],
      strictMcpConfig: true,
      allowedTools: ['mcp__hansard'],
      disallowedTools: [],
      mcpServers: {},
    });
    expect(options.env).toMatchObject({ PATH: process.env.PATH });
    for (const absent of [
      ...['model', 'cwd', 'maxTurns', 'maxBudgetUsd', 'resume', 'outputFormat', 'systemPrompt'],
    ]) {
      expect(options).not.toHaveProperty(absent);
    }
  });

  it('each option is passed on', async () => {
    const options = await optionsFor({
      model: 'claude-opus-4-8',
      executable: '/opt/claude',
      env: { ONLY: 'this' },
      permissionMode: 'bypassPermissions',
      allowedTools: ['Bash(ls)'],
      disallowedTools: ['WebFetch'],
      settingSources: ['project'],
      systemPrompt: 'Be brief.',
      maxTurns: 9,
      mcpServers: { files: { command: 'files-server' } },
    });
    expect(options).toMatchObject({
      model: 'claude-opus-4-8',
      pathToClaudeCodeExecutable: '/opt/claude',
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      allowedTools: ['mcp__hansard', 'Bash(ls)'],
      disallowedTools: ['WebFetch'],
      settingSources: ['project'],
      strictMcpConfig: false,
      systemPrompt: 'Be brief.',
      maxTurns: 9,
      mcpServers: { files: { command: 'files-server' } },
    });
    expect(options.env).toEqual({ ONLY: 'this', CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' });
  });

  it('what the dispatch says counts more than the options', async () => {
    const schema = { type: 'object' };
    const options = await optionsFor(
      { model: 'claude-opus-4-8', maxTurns: 9 },
      {
        model: 'claude-sonnet-4-5',
        maxTurns: 2,
        maxCostUsd: 0.5,
        cwd: import.meta.dirname,
        outputSchema: schema,
        resumeSessionId: 'old',
      },
    );
    expect(options).toMatchObject({
      model: 'claude-sonnet-4-5',
      maxTurns: 2,
      maxBudgetUsd: 0.5,
      cwd: import.meta.dirname,
      outputFormat: { type: 'json_schema', schema },
      resume: 'old',
    });
  });

  it('a server that would hide the tools of the project is refused', () => {
    expect(() => createClaudeAgent({ mcpServers: { hansard: {} } })).toThrow(TypeError);
  });
});

describe('the plugin without a recording', () => {
  it('is the live agent; its executable is relative to the configuration', async () => {
    const agent = await plugin.create(
      { executable: 'no-such-claude', env: { ANTHROPIC_API_KEY: 'none' } },
      { baseDir: import.meta.dirname, signal: new AbortController().signal },
    );
    const failure = await runAgent(agent).catch((error) => error);
    expect(failure.code).toBe('AGENT_ENGINE_MISSING');
    expect(failure.message).toContain(resolve(import.meta.dirname, 'no-such-claude'));
  });
});

describe('an engine', () => {
  it('that ends without a result has failed', async () => {
    const loadSdk = async () => ({
      async *query() {
        yield { type: 'system', subtype: 'status', status: 'requesting', session_id: 'session-1' };
      },
    });
    const failure = await runAgent(createClaudeAgent({ loadSdk })).catch((error) => error);
    expect(failure.code).toBe('AGENT_ENGINE_FAILED');
  });

  const result = { type: 'result', subtype: 'success', is_error: false, result: 'Yes.', num_turns: 1 };
  const state = (now: string) => ({ type: 'system', subtype: 'session_state_changed', state: now });

  it.each([
    ['in the turn after a result', [result, state('idle'), state('running')]],
    ['while a sub-agent works in the background', [result]],
  ])('that dies %s has failed', async (_, messages) => {
    const loadSdk = async () => ({
      async *query() {
        yield* messages;
        throw new Error('Claude Code process terminated by signal SIGKILL');
      },
    });
    const failure = await runAgent(createClaudeAgent({ loadSdk })).catch((error) => error);
    expect(failure.code).toBe('AGENT_ENGINE_FAILED');
    expect(failure.message).toContain('SIGKILL');
  });

  it.each([
    ['what its last result said already', [{ ...result, is_error: true, subtype: 'error_max_turns' }]],
    ['that it was ended when it had nothing left to do', [result, state('idle')]],
  ])('that reports %s at its end has not failed', async (_, messages) => {
    const loadSdk = async () => ({
      async *query() {
        yield* messages;
        throw new Error('Claude Code process exited with code 143');
      },
    });
    const { events } = await runAgent(createClaudeAgent({ loadSdk }));
    expect(ofType(events, 'session:complete')).toHaveLength(1);
  });
});

describe('a message', () => {
  it('that comes while the engine ends is answered by another engine, which resumes the session', async () => {
    const late = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    async function* messages() {
      await late.promise;
      yield { type: 'user:message', data: { text: 'One more thing.' } } as unknown as CapturedEvent;
      heard.resolve();
    }
    const { queries, loadSdk } = fakeSdk(async () => {
      late.resolve();
      await heard.promise;
    });
    const { events } = await runAgent(createClaudeAgent({ loadSdk }), {
      messages: messages(),
      maxCostUsd: 1,
    });
    expect(queries.map(({ prompts }) => prompts)).toEqual([['do it'], ['One more thing.']]);
    expect(queries.map(({ options }) => options.resume)).toEqual([undefined, 'session-1']);
    // What the first one left of it.
    expect(queries.map(({ options }) => options.maxBudgetUsd)).toEqual([1, 0.75]);
    expect(ofType(events, 'session:complete')).toHaveLength(2);
  });
});
