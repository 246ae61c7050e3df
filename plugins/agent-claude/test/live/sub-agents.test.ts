import { createLogIndex, dialogOf, knownBy } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import {
  latestTextIn,
  type MessagesScript,
  toolResultsIn,
} from '../../../../scripts/engines/scripted-messages-api.ts';
import { dataOf, ofType } from '../run-agent.ts';
import { hookThat, useLiveAgents } from './live-agent.ts';

const live = useLiveAgents();

const task = (isBackground: boolean) =>
  ({
    type: 'tool_use',
    id: 'toolu_task',
    name: 'Agent',
    input: {
      description: 'count',
      prompt: 'Count the files.',
      subagent_type: 'general-purpose',
      run_in_background: isBackground,
    },
  }) as const;

/** A main agent and its sub-agent, by what they were asked. */
function script(main: MessagesScript, subAgent: MessagesScript): MessagesScript {
  return (request, index) =>
    JSON.stringify(request.messages[0]).includes('Count the files.')
      ? subAgent(request, index)
      : main(request, index);
}

describe('a sub-agent', () => {
  it('that works in the foreground answers its caller: the result of the call carries its words on', async () => {
    const answer = 'There are\nthree files.';
    const { events } = await live.run(
      script(
        (request) => (toolResultsIn(request).size > 0 ? [{ type: 'text', text: 'Three.' }] : [task(false)]),
        (request) =>
          toolResultsIn(request).size > 0
            ? [{ type: 'text', text: answer }]
            : [{ type: 'tool_use', id: 'toolu_ls', name: 'Bash', input: { command: 'ls' } }],
      ),
    );
    const said = ofType(events, 'agent:text').find(({ data }) => data.text === answer);
    const result = ofType(events, 'agent:tool_result').find(({ data }) => data.toolCallId === 'toolu_task');
    expect(said?.agentId).toBeDefined();
    expect(result).toMatchObject({ substance: said?.id });
    const index = createLogIndex(events);
    const row = dialogOf(index).find(({ text }) => text === answer);
    expect(row?.audience.map(({ agentId }) => agentId)).toEqual(['']);
    expect(knownBy(index, '').find(({ id }) => id === result?.id)?.paths).toMatchObject([
      [{ id: said?.id, agentId: said?.agentId, how: 'said' }, { agentId: '' }],
    ]);
  });

  it('that continues in the background after the result is captured to its end, and the totals grow', async () => {
    const resultSeen = Promise.withResolvers<void>();
    const asked: (string | undefined)[] = [];
    const { events, envelope } = await live.run(
      script(
        (request) => {
          if (latestTextIn(request).includes('task-notification'))
            return [{ type: 'text', text: 'Three files.' }];
          return toolResultsIn(request).size > 0 ? [{ type: 'text', text: 'Counting.' }] : [task(true)];
        },
        async (request) => {
          await resultSeen.promise;
          return toolResultsIn(request).size > 0
            ? [{ type: 'text', text: 'Three.' }]
            : [{ type: 'tool_use', id: 'toolu_ls', name: 'Bash', input: { command: 'ls' } }];
        },
      ),
      {
        onEvent: ({ type }) => {
          if (type === 'session:complete') resultSeen.resolve();
        },
        hooks: [
          hookThat(({ agentId }) => {
            asked.push(agentId);
            return { decision: 'allow' };
          }),
        ],
      },
    );
    const { agentId } = ofType(events, 'agent:created')[0] ?? {};
    expect(agentId).toBeDefined();
    expect(asked).toEqual([undefined, agentId]);
    const ends = ofType(events, 'session:complete');
    expect(ends.map(({ data }) => data.result)).toEqual(['Counting.', 'Three files.']);
    expect(ends.map(({ data }) => (data.usage as { inputTokens: number }).inputTokens)).toEqual([200, 500]);
    expect(envelope).toMatchObject({ status: 'completed', usage: { inputTokens: 500, outputTokens: 100 } });
    // Each of the five calls costs the same.
    const each = Number(envelope.cost) / 5;
    expect(each).toBeGreaterThan(0);
    expect(ends.map(({ data }) => Number(data.costUsd) / each)).toEqual([
      expect.closeTo(2),
      expect.closeTo(5),
    ]);
    expect(ofType(events, 'session:init')).toHaveLength(1);
    const own = events.filter((event) => event.agentId === agentId).map(({ type }) => type);
    expect(own).toEqual(expect.arrayContaining(['agent:tool_call', 'agent:tool_result', 'agent:text']));
    expect(dataOf(events, 'system:task_notification').status).toBe('completed');
    const said = ofType(events, 'agent:text').find(({ data }) => data.text === 'Three.');
    const row = dialogOf(createLogIndex(events)).find(({ id }) => id === said?.id);
    expect(row?.audience.map((hearing) => hearing.agentId)).toEqual(['']);
  });
});
