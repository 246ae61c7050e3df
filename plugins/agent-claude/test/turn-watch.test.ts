import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { TurnWatch } from '../src/turn-watch.ts';

function watched(messages: readonly object[]): TurnWatch {
  const watch = new TurnWatch();
  watch.begin();
  for (const message of messages) watch.observe({ parent_tool_use_id: null, ...message } as SDKMessage);
  return watch;
}

const retry = (error_status: number | null, error: string, attempt = 1) => ({
  type: 'system',
  subtype: 'api_retry',
  attempt,
  error_status,
  error,
});
const refused = (attempt: number) => retry(401, 'authentication_failed', attempt);
const overloaded = retry(529, 'overloaded');
const token = { type: 'stream_event', event: { type: 'message_start' } };
const state = (now: string) => ({ type: 'system', subtype: 'session_state_changed', state: now });
const result = { type: 'result', subtype: 'success', is_error: false };
const tasks = (...ids: string[]) => ({
  type: 'system',
  subtype: 'background_tasks_changed',
  tasks: ids.map((task_id) => ({ task_id, task_type: 'local_bash' })),
});

describe('an engine', () => {
  it.each([
    ['is locked out when the API refused it three times in a row', [1, 2, 3].map(refused), true],
    ['is not when it may renew its login yet', [1, 2].map(refused), false],
    ['is not when three of its agents were refused once or twice', [1, 1, 1, 2, 2, 2].map(refused), false],
    ['is when three of its agents are refused on and on', [1, 1, 1, 2, 2, 2, 3].map(refused), true],
    ['is not when the API fails for other reasons', [overloaded, overloaded, overloaded, overloaded], false],
    [
      'is not when the API had other reasons meanwhile',
      [refused(1), refused(2), overloaded, refused(4)],
      false,
    ],
    ['is not when the API let it in meanwhile', [refused(1), refused(2), token, refused(3)], false],
    ['stays locked out whatever it says then', [...[1, 2, 3].map(refused), token], true],
  ])('%s', (_, messages, isLockedOut) => {
    const watch = watched(messages);
    expect(watch.isLockedOut).toBe(isLockedOut);
    expect(watch.refusal).toBe(isLockedOut ? 'API error 401: authentication_failed' : null);
  });

  it('is idle between turns, and says which commands it left in the background', () => {
    const watch = watched([state('running'), tasks('b1', 'b2'), result, state('idle')]);
    expect([watch.isIdle, watch.commands]).toEqual([true, ['b1', 'b2']]);
    watch.observe(tasks() as unknown as SDKMessage);
    expect(watch.commands).toEqual([]);
  });
});
