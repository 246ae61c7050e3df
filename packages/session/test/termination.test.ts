import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

describe('an agent that is terminated', () => {
  it('while its model thinks says nothing more, and the caller that waits gets an error', async () => {
    const asked = Promise.withResolvers<void>();
    const reply = Promise.withResolvers<void>();
    const { create, events } = prepare();
    const { session } = await create({
      model: model(async () => {
        asked.resolve();
        await reply.promise;
        return says('I am still here.');
      }),
    });
    const id = session.allocateAgentId();
    session.logAgentCreated(id, { name: 'Jack' });
    const jack = await session.getAgent(id);
    const response = jack.response();
    await asked.promise;
    await session.terminateAgent(id);
    reply.resolve();
    await expect(response).rejects.toMatchObject({ code: 'SESSION_AGENT_TERMINATED' });
    // Its answer is not in the log, but its cost is.
    expect(typesOf(await events()).slice(2)).toEqual(['agent:terminated', 'agent:inference']);
  });

  it('by its own tool makes no further call, and each of its calls has a result', async () => {
    const { create, events } = prepare();
    const made: string[] = [];
    const { root, session } = await create({
      tools: [
        tools({
          bring: async (call) => {
            const host = hostOf(call);
            const { agentId } = await host.createAgent({ name: 'Jack' });
            return done((await host.respond(agentId)).text);
          },
          leave: async (call) => {
            await hostOf(call).terminateAgent(hostOf(call).caller.agentId);
            return done('Gone.');
          },
          act: ({ toolCallId }) => {
            made.push(toolCallId);
            return done('Acted.');
          },
        }),
      ],
      model: answers(
        calls('bring'),
        {
          text: '',
          toolCalls: [
            { toolCallId: 'c1', tool: 'leave', input: {} },
            { toolCallId: 'c2', tool: 'act', input: {} },
          ],
        },
        says('He has left.'),
      ),
    });
    await root.harken('Go');
    expect(String(await root.response())).toBe('He has left.');
    expect(made).toEqual([]);
    expect(find(await events(), 'agent:tool_result', { toolCallId: 'c2' }).data).toMatchObject({
      status: 'error',
      output: expect.stringContaining('Jack (agent_002) was terminated'),
    });
    await session.close();
  });

  it('gets no message by hand either, but the result of a call that it made', async () => {
    const { create } = prepare();
    const { session } = await create();
    const id = session.allocateAgentId();
    session.logAgentCreated(id);
    session.logTranscriptEntry(id, {
      role: 'assistant',
      content: null,
      toolCalls: [{ toolCallId: 'c1', tool: 'leave', input: {} }],
    });
    await session.terminateAgent(id);
    expect(() => session.logTranscriptEntry(id, { role: 'user', content: 'Hello?' })).toThrow(
      expect.objectContaining({ code: 'SESSION_AGENT_TERMINATED' }),
    );
    session.logTranscriptEntry(id, { role: 'tool', content: 'Gone.', toolCallId: 'c1' });
    await session.flushed();
  });
});
