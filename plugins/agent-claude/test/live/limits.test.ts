import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import type { MessagesScript } from '../../../../scripts/engines/scripted-messages-api.ts';
import { dataOf, ofType } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

const bash = (id: string, command: string) => [
  { type: 'tool_use' as const, id, name: 'Bash', input: { command, description: 'x' } },
];

/** Makes a call each time that it is asked. */
const restless: MessagesScript = (_, index) => bash(`toolu_${index}`, 'true');

describe('the stall limit', () => {
  it('ends an agent that hangs, even if the engine still sends signs of life', async () => {
    const clock = new ManualClock();
    let beats = 0;
    const { events, envelope } = await live.run(() => bash('toolu_1', 'true'), {
      clock,
      limits: { stallMs: 1_000 },
      env: { CLAUDE_CODE_HOOK_HEARTBEAT_INTERVAL_MS: '200' },
      hooks: [{ contract: 1, name: 'nobody', decide: () => new Promise<never>(() => {}) }],
      onEvent: ({ type, data }, run) => {
        if (type !== 'system:tool_progress' || data.heartbeat !== true) return;
        clock.advance(400);
        beats += 1;
        if (beats === 10) run.abort('it never stalled');
      },
    });
    expect(events.map(({ type }) => type)).not.toContain('harness:abort');
    expect(dataOf(events, 'harness:stall')).toEqual({ idleMs: 1_000, limitMs: 1_000 });
    expect(ofType(events, 'system:tool_progress').length).toBeGreaterThanOrEqual(3);
    expect(envelope.status).toBe('aborted');
  });
});

describe('the time limit', () => {
  it('ends a tool in the middle, and the log says what was used', async () => {
    const clock = new ManualClock();
    const { events, envelope, cwd } = await live.run(
      () => bash('toolu_1', 'touch began; tail -f /dev/null; touch ended'),
      {
        clock,
        limits: { timeMs: 5_000 },
        onEvent: ({ type }) => {
          if (type === 'agent:tool_call') clock.advance(4_999);
          if (type === 'agent:inference') clock.advance(1);
        },
      },
    );
    expect(dataOf(events, 'harness:timeout')).toEqual({ elapsedMs: 5_000, limitMs: 5_000 });
    expect(dataOf(events, 'agent:tool_result')).toMatchObject({ toolCallId: 'toolu_1', status: 'error' });
    expect(envelope).toMatchObject({ status: 'aborted', usage: { inputTokens: 100, outputTokens: 20 } });
    expect(existsSync(join(cwd, 'ended'))).toBe(false);
  });
});

describe('the cost limit', () => {
  it('ends an agent within its first turn, when the engine has spent so much', async () => {
    const one = await live.run(() => [{ type: 'text', text: 'Hello.' }]);
    const costUsd = Number(one.envelope.cost) * 2.5;
    const { envelope, events, requests } = await live.run(restless, { limits: { costUsd, turns: 20 } });
    expect(requests).toHaveLength(3);
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'aborted',
      reason: 'error_max_budget_usd',
    });
    expect(envelope.status).toBe('aborted');
    expect(envelope.cost).toBeCloseTo(Number(one.envelope.cost) * 3, 10);
  });
});

describe('the turn limit', () => {
  it('ends an agent that makes call after call', async () => {
    const { envelope, events, requests } = await live.run(restless, { limits: { turns: 2 } });
    expect(requests).toHaveLength(2);
    expect(dataOf(events, 'session:complete')).toMatchObject({
      status: 'aborted',
      reason: 'error_max_turns',
    });
    expect(envelope.status).toBe('aborted');
  });
});
