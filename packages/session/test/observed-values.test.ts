import { isEventOf, PrintedForm, reviveSnapshot } from '@hansard/events';
import { SessionViewer } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { answers, calls, done, model, says, tools } from './scripted.ts';

/** The values of each observation in the log. */
async function observedIn({ events }: ReturnType<typeof prepare>): Promise<unknown[][]> {
  return (await events()).flatMap((event) =>
    isEventOf(event, 'agent:output') ? [event.data.parts.map(reviveSnapshot)] : [],
  );
}

describe('a value that an agent observed', () => {
  it('is in the log as it was at the call, whatever becomes of it before the write', async () => {
    const prepared = prepare();
    const { root, session } = await prepared.create();
    const rows = [{ id: 1 }];
    const writes = [root.observe([rows, new Map([['rows', rows]])])];
    rows.push({ id: 2 });
    writes.push(root.observe([rows]));
    rows.length = 0;
    await Promise.all(writes);
    await session.flushed();
    expect(await observedIn(prepared)).toEqual([
      [[{ id: 1 }], new Map([['rows', [{ id: 1 }]]])],
      [[{ id: 1 }, { id: 2 }]],
    ]);
  });

  it('names the agent and its cause, under the id that the call returned', async () => {
    const prepared = prepare();
    const { root, session } = await prepared.create();
    const heard = await root.harken('Look.');
    const ids = [await root.observe(['a'], { cause: heard }), await root.observe(['b'])];
    await session.flushed();
    const outputs = (await prepared.events()).filter(({ type }) => type === 'agent:output');
    expect(outputs).toMatchObject([
      { id: ids[0], agentId: 'agent_001', cause: heard },
      { id: ids[1], agentId: 'agent_001' },
    ]);
    expect(outputs[1]).not.toHaveProperty('cause');
  });

  it('by a tool has the very call as its cause', async () => {
    const prepared = prepare();
    const printed = new Set(['one']);
    const { root } = await prepared.create({
      tools: [
        tools({
          print: async (call) => {
            const written = call.observe('printed', printed);
            printed.clear();
            await written;
            return done('Done.');
          },
        }),
      ],
      model: answers(calls('print'), says('I see.')),
    });
    await root.harken('Go');
    await root.response();
    const log = await prepared.events();
    expect(find(log, 'agent:output')).toMatchObject({
      agentId: root.agentId,
      cause: find(log, 'agent:tool_call').id,
    });
    expect(await observedIn(prepared)).toEqual([['printed', new Set(['one'])]]);
  });

  it('is not in the transcript, is not a turn, and reaches the model, even after a resume', async () => {
    const prepared = prepare();
    const { root, session } = await prepared.create();
    await root.harken('Look.');
    for (const values of [[], ['something'], [() => {}]]) await root.observe(values);
    expect(root.awaitsResponse).toBe(true);
    expect(await root.transcript()).toEqual([{ role: 'user', content: 'Look.' }]);
    await session.close();

    const asked: unknown[] = [];
    const again = await prepared.load({
      model: model((request) => {
        asked.push(request.turn, request.messages);
        return says('');
      }),
    });
    expect(again.session.diagnostics).toEqual([]);
    expect(again.root.awaitsResponse).toBe(true);
    await again.root.response();
    const seen = { role: 'user', text: expect.stringMatching(/^something\n\[Function/) };
    expect(asked).toEqual([0, [{ role: 'user', text: 'Look.' }, seen]]);
    expect(await observedIn(prepared)).toEqual([[], ['something'], [expect.any(PrintedForm)]]);
    const viewed = new SessionViewer(await prepared.events()).getTranscript('agent_001');
    expect(viewed.map(({ message }) => message.role)).toEqual(['user', 'assistant']);
  });

  it('is refused for an unknown or a terminated agent, and after the end', async () => {
    const { create } = prepare();
    const { root, session } = await create();
    const child = session.allocateAgentId();
    session.logAgentCreated(child, { cause: await root.harken('Go') });
    await session.terminateAgent(child);
    await expect((await session.getAgent(child)).observe([])).rejects.toMatchObject({
      code: 'SESSION_AGENT_TERMINATED',
    });
    await session.close();
    await expect(root.observe(['late'])).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });
});
