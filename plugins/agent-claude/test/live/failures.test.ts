import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claudeAgentErrors, createClaudeAgent } from '../../src/index.ts';
import { dataOf, ofType, runAgent, runRequest } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

describe('an agent that can not run', () => {
  it('without a key: says how to log in, and what works without', async () => {
    const { events, envelope, requests } = await live.run(() => [], {
      env: { ANTHROPIC_API_KEY: undefined },
    });
    expect(requests).toEqual([]);
    expect(dataOf(events, 'session:complete')).toMatchObject({ status: 'failed', reason: 'api_error' });
    const error = dataOf(events, 'harness:error');
    expect(error.code).toBe('AGENT_NOT_LOGGED_IN');
    expect(error.message).toContain('Not logged in');
    expect(error.message).toContain('ANTHROPIC_API_KEY');
    expect(error.message).toContain('hansard run STREAM.jsonl');
    expect(envelope.status).toBe('crashed');
  });

  it('with a key that is refused: the same, and the API is not asked for minutes', async () => {
    const { events, envelope, requests } = await live.run(() => ({
      status: 401,
      error: 'invalid x-api-key',
    }));
    expect(requests).toHaveLength(3);
    const error = dataOf(events, 'harness:error');
    expect(error.code).toBe('AGENT_NOT_LOGGED_IN');
    expect(error.message).toContain('401');
    expect(error.message).toContain('ANTHROPIC_API_KEY');
    expect(envelope).toMatchObject({ status: 'crashed', cost: 0 });
  });

  it('with a key that may not do that: the same', async () => {
    const { events, requests } = await live.run(() => ({ status: 403, error: 'not for this workspace' }));
    expect(requests).toHaveLength(1);
    const error = dataOf(events, 'harness:error');
    expect(error.code).toBe('AGENT_NOT_LOGGED_IN');
    expect(error.message).toContain('not for this workspace');
    expect(ofType(events, 'session:complete')).toHaveLength(1);
  });

  it('any more, with a key that is refused in the middle: the usage is reported', async () => {
    const { events, envelope } = await live.run((_, index) =>
      index > 0
        ? { status: 401, error: 'revoked' }
        : [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'true' } }],
    );
    expect(dataOf(events, 'harness:error').code).toBe('AGENT_NOT_LOGGED_IN');
    expect(envelope).toMatchObject({ status: 'crashed', usage: { inputTokens: 100, outputTokens: 20 } });
    expect(envelope.cost).toBeGreaterThan(0);
  });

  it('without the SDK: names the package and what works without', async () => {
    const agent = createClaudeAgent({
      loadSdk: () => Promise.reject(new Error("Cannot find package '@anthropic-ai/claude-agent-sdk'")),
    });
    const failure = await runAgent(agent).catch((error) => error);
    expect(claudeAgentErrors.is(failure, 'AGENT_SDK_MISSING')).toBe(true);
    expect(failure.message).toContain('npm install @anthropic-ai/claude-agent-sdk');
    expect(failure.message).toContain('hansard run STREAM.jsonl');
    expect(failure.cause.message).toContain('Cannot find package');
  });

  it('without an executable: says which', async () => {
    const failure = await runAgent(createClaudeAgent({ executable: '/no/such/claude' })).catch(
      (error) => error,
    );
    expect(claudeAgentErrors.is(failure, 'AGENT_ENGINE_MISSING')).toBe(true);
    expect(failure.message).toContain('/no/such/claude');
  });

  it("without the SDK's own engine, an optional dependency: says so", async () => {
    const loadSdk = async () => ({
      query: () => {
        throw new Error('Native CLI binary for linux-x64 not found. Reinstall …');
      },
    });
    const failure = await runAgent(createClaudeAgent({ loadSdk })).catch((error) => error);
    expect(claudeAgentErrors.is(failure, 'AGENT_ENGINE_MISSING')).toBe(true);
    expect(failure.message).toContain('optional dependencies');
    expect(failure.message).toContain('`executable` in the configuration of @hansard/agent-claude');
  });

  it('without the folder to work in: names it', async () => {
    const cwd = join(live.newFolder(), 'nowhere');
    const failure = await runAgent(createClaudeAgent(), { cwd }).catch((error) => error);
    expect(claudeAgentErrors.is(failure, 'AGENT_CWD_MISSING')).toBe(true);
    expect(failure.message).toContain(cwd);
  });

  it.skipIf(process.platform === 'win32')('whose engine exits: its last output is reported', async () => {
    const executable = join(live.newFolder(), 'claude');
    writeFileSync(executable, '#!/bin/sh\necho "out of luck" >&2\nexit 3\n');
    chmodSync(executable, 0o755);
    const failure = await runAgent(createClaudeAgent({ executable })).catch((error) => error);
    expect(claudeAgentErrors.is(failure, 'AGENT_ENGINE_FAILED')).toBe(true);
    expect(failure.message).toContain('out of luck');
    expect(failure.details).toEqual({ errorOutput: 'out of luck', exitCode: 3 });
  });

  it('that was aborted before it began does nothing', async () => {
    const agent = createClaudeAgent({ loadSdk: () => Promise.reject(new Error('never asked')) });
    expect((await runAgent(agent, runRequest({ signal: AbortSignal.abort() }))).events).toEqual([]);
  });
});
