import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { latestTextIn, type MessagesScript } from '../../../../scripts/engines/scripted-messages-api.ts';
import { dataOf, ofType } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

/** Starts a command in the background, ends its turn, and says so when it hears of its end. */
const starts =
  (command: string): MessagesScript =>
  (request, index) => {
    if (latestTextIn(request).includes('task-notification')) return [{ type: 'text', text: 'It is done.' }];
    if (index > 0) return [{ type: 'text', text: 'It runs.' }];
    const input = { command, description: 'build', run_in_background: true };
    return [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input }];
  };

describe('a command that the agent left in the background', () => {
  it('and that ends after the result is captured to its end, with the turn that hears of it', async () => {
    const folder = live.newFolder();
    // It takes longer than an engine may take to end.
    const { events, envelope } = await live.run(starts('until [ -e go ]; do sleep 0.05; done; sleep 3'), {
      folder,
      onEvent: ({ type }) => {
        if (type === 'session:complete') writeFileSync(join(folder, 'work', 'go'), '');
      },
    });
    expect(dataOf(events, 'system:task_notification')).toMatchObject({ status: 'completed' });
    expect(ofType(events, 'session:complete').map(({ data }) => data.result)).toEqual([
      'It runs.',
      'It is done.',
    ]);
    expect(envelope).toMatchObject({ status: 'completed', usage: { inputTokens: 300, outputTokens: 60 } });
  });

  it('that never ends is stopped after a while, which the log records, without a request to the model', async () => {
    const { events, envelope, requests } = await live.run(starts('tail -f /dev/null'), {
      agentOptions: { backgroundMs: 100 },
    });
    expect(dataOf(events, 'system:task_started').task_type).toBe('local_bash');
    expect(dataOf(events, 'system:task_notification')).toMatchObject({ status: 'stopped' });
    expect(ofType(events, 'session:complete').map(({ data }) => data.result)).toEqual(['It runs.']);
    expect(requests).toHaveLength(2);
    expect(envelope.status).toBe('completed');
  });

  it('does not keep a message waiting that comes meanwhile', async () => {
    const { events, envelope } = await live.run(
      (request, index) =>
        latestTextIn(request).includes('Never mind.')
          ? [{ type: 'text', text: 'As you like.' }]
          : starts('tail -f /dev/null')(request, index),
      {
        agentOptions: { backgroundMs: 1_000 },
        onEvent: ({ type, data }, run) => {
          if (type === 'session:complete' && data.result === 'It runs.') void run.send('Never mind.');
        },
      },
    );
    expect(ofType(events, 'session:complete').map(({ data }) => data.result)).toEqual([
      'It runs.',
      'As you like.',
    ]);
    expect(ofType(events, 'session:init')).toHaveLength(1);
    expect(dataOf(events, 'system:task_notification')).toMatchObject({ status: 'stopped' });
    expect(envelope.status).toBe('completed');
  });
});
