import { type NewEvent, newEvent } from '@hansard/events';
import { interruption, renderCalls, takenBackText, verificationOf } from '@hansard/prompt';
import { readSessionState } from '@hansard/session';
import { branchedLog, writtenMessages } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { called, created, heard, imported } from './foreign-log.ts';
import { dispatchId, taskDir } from './prepare.ts';
import { model, type Reply, says } from './scripted.ts';

const back = (keptThrough: string | null): NewEvent =>
  newEvent('session:rewind', { keptThrough }, { id: `back-to-${keptThrough}`, agentId: 'agent_1' });
const textOf = { takenBack: takenBackText, interrupted: interruption };

/** A model that keeps the prompts that it is given. */
function listening(reply: Reply = says('Noted.')) {
  const prompts: unknown[][] = [];
  const listener = model(({ messages }) => {
    prompts.push([...messages]);
    return reply;
  });
  return { prompts, listener };
}

describe('a session that is loaded from a log with rewinds', () => {
  it('gives its model the current branch, as the writer of a random log kept it (60 seeds)', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const log = branchedLog({ seed, length: 40, isPlain: true });
      const [root] = log.agents;
      if (root === undefined) throw new Error('no root');
      const { load } = await imported(log.events);
      const { prompts, listener } = listening();
      const { root: agent } = await load({ model: listener });
      await agent.harken('And now?');
      await agent.response();
      const expected = writtenMessages(log, root.prompt, textOf);
      expect(prompts[0], `seed ${seed}`).toEqual([...expected, { role: 'user', text: 'And now?' }]);
      const heard = (await agent.transcript()).filter(({ role }) => role === 'user');
      expect(
        heard.map(({ content }) => content),
        `seed ${seed}`,
      ).toEqual([...expected.flatMap(({ role, text }) => (role === 'user' ? [text] : [])), 'And now?']);
    }
  });

  it('does not wait for an answer to a message that the rewind cut', async () => {
    const log = [created('agent_1', 'c'), ...heard('agent_1', 'p1', 'One?')];
    const answered = newEvent(
      'agent:text',
      { text: 'One.' },
      { id: 'a1', agentId: 'agent_1', messageId: 'a1' },
    );
    const { store, load } = await imported([...log, answered, ...heard('agent_1', 'p2', 'Two?'), back('a1')]);
    expect(await readSessionState({ store, taskDir, dispatchId })).toMatchObject({ awaitsResponse: false });
    expect((await load()).root.awaitsResponse).toBe(false);
    const cut = await imported([...log, answered, back('p1')]);
    expect((await cut.load()).root.awaitsResponse).toBe(true);
  });

  it('closes no call that the rewind cut, and reads "taken back" for one that it kept without its result', async () => {
    const log = [
      created('agent_1', 'c'),
      ...heard('agent_1', 'p1', 'Look.'),
      ...called('agent_1', 'm1', 'k1'),
    ];
    const { store, load, events } = await imported([...log, back('p1')]);
    expect(await readSessionState({ store, taskDir, dispatchId })).toMatchObject({ hasOpenCalls: false });
    await load();
    expect((await events()).filter(({ type }) => type === 'agent:tool_result')).toEqual([]);

    const kept = await imported([...log, ...heard('agent_1', 'p2', 'Wait.'), back('m1')]);
    const { prompts, listener } = listening();
    const { root } = await kept.load({ model: listener });
    await root.harken('Well?');
    await root.response();
    expect(prompts[0]).toMatchObject([
      { role: 'user', text: 'Look.' },
      { role: 'assistant', toolCalls: [{ toolCallId: 'k1' }] },
      { role: 'tool', toolCallId: 'k1', text: takenBackText, isError: true },
      { role: 'user', text: 'Well?' },
    ]);
    expect((await kept.events()).filter(({ type }) => type === 'agent:tool_result')).toEqual([]);
  });

  it('records contexts that can be rendered again', async () => {
    const log = [
      created('agent_1', 'c'),
      ...heard('agent_1', 'p1', 'One?'),
      ...heard('agent_1', 'p2', 'Two?'),
    ];
    const { load, events } = await imported([...log, back('p1')]);
    const { root, session } = await load({ model: listening().listener });
    await root.response();
    await session.close();

    const [call] = [...renderCalls(await events())];
    if (call === undefined) throw new Error('no call');
    expect(call.messages).toMatchObject([{ role: 'user', text: 'One?' }]);
    expect(verificationOf(call).isSame).toBe(true);
  });
});
