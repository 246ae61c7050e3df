import { runDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentProvider, ModelMessage } from '@hansard/provider';
import { dispatchEnding, eventWords, priorOutcomes } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare, taskDir } from './prepare.ts';
import { model, says } from './scripted.ts';

const scout: AgentProvider = {
  contract: 1,
  async *run() {
    yield {
      kind: 'event',
      event: newEvent('session:complete', { status: 'completed', result: 'There is a lake.' }),
    };
  },
};

/** A task with a dispatch that has ended, and its outcomes. */
async function explored() {
  const prepared = prepare();
  const { store } = prepared;
  const envelope = await runDispatch({ store, taskDir, agent: scout, role: 'scout', dispatchId: 'EARLIER' });
  const ending = dispatchEnding(envelope, await store.getRecentEvents(taskDir, 'EARLIER', 20));
  return { ...prepared, outcomes: priorOutcomes([{ envelope, ending }]) };
}

describe('a session that is given the outcomes of earlier dispatches of its task', () => {
  it('has them in its first prompt, recorded as outcomes of those dispatches, and asks nobody', async () => {
    const { create, load, events, outcomes } = await explored();
    const prompts: (readonly ModelMessage[])[] = [];
    const asked = model(({ messages }) => {
      prompts.push(messages);
      return says('A lake.');
    });
    const { session, root } = await create({
      model: asked,
      systemPrompt: 'Be brief.',
      priorOutcomes: outcomes,
    });
    expect(root.awaitsResponse).toBe(false);
    await root.harken('What is there?');
    await root.response();
    await session.close();
    const again = await load({ model: asked, priorOutcomes: outcomes });
    await again.root.harken('Sure?');
    await again.root.response();
    await again.session.close();

    const given = [
      { role: 'system', text: outcomes.text },
      { role: 'system', text: 'Be brief.' },
    ];
    expect(outcomes.text).toContain('There is a lake.');
    expect(prompts.map((messages) => messages.slice(0, 2))).toEqual([given, given]);
    const log = await events();
    const recorded = find(log, 'agent:system_prompt', { text: outcomes.text });
    expect(recorded.data).toEqual({ text: outcomes.text, outcomesOf: ['EARLIER'] });
    expect(JSON.stringify(eventWords(recorded))).toContain('outcomes of 1 earlier dispatch"');
    expect(find(log, 'agent:system_prompt', { text: 'Be brief.' }).data).toEqual({ text: 'Be brief.' });
    expect(log.filter(({ type }) => type === 'agent:system_prompt')).toHaveLength(2);
  });

  it('gives them to each of its peers, and records nothing where there are none', async () => {
    const { open, events, outcomes } = await explored();
    const session = await open({
      expect: 'new',
      peers: [{ name: 'Ann' }, { name: 'Ben' }],
      priorOutcomes: outcomes,
    });
    await session.close();
    expect((await events()).filter(({ data }) => data.outcomesOf !== undefined)).toHaveLength(2);
    const empty = prepare();
    const other = await empty.open({ expect: 'new', priorOutcomes: { text: '', dispatchIds: [] } });
    await other.close();
    expect((await empty.events()).map(({ type }) => type)).not.toContain('agent:system_prompt');
  });

  it('can not begin with the events of another log, too', async () => {
    const { open, outcomes } = await explored();
    await expect(open({ events: [], priorOutcomes: outcomes })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
  });
});
