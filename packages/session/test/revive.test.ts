import { LoggedString } from '@hansard/session';
import { createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

const bash = tools({ bash: () => done('total 0') });

/** A session in which Jack has listed a folder and has ended. */
async function withoutJack() {
  const prepared = prepare();
  const { root, session } = await prepared.create({
    tools: [bash],
    model: answers(calls('bash'), says('The folder is empty.')),
  });
  const jack = await session.createAgent({ name: 'Jack', systemPrompt: 'You list folders.' });
  await jack.harken('What is there?');
  await jack.response();
  await session.terminateAgent(jack.agentId, 'He is done.');
  return { ...prepared, root, session, jack };
}

describe('an agent that was terminated', () => {
  it('is revived with its whole transcript, also in a session that was loaded, and is heard again', async () => {
    const { session, jack, load, events } = await withoutJack();
    const before = await jack.transcript();
    await session.close();
    const again = await load({
      tools: [bash],
      model: model(({ messages }) => says(`I know ${messages.length} messages.`)),
    });
    const { agent, missed } = await again.session.revive(jack.agentId, 'He is needed.');
    expect(missed).toEqual([]);
    expect(agent.info.state).toBe('active');
    expect(await agent.transcript()).toEqual(before);
    await agent.harken('And now?');
    expect(String(await agent.response())).toBe('I know 6 messages.');
    expect(find(await events(), 'agent:revived')).toMatchObject({
      agentId: jack.agentId,
      data: { reason: 'He is needed.', missed: [] },
    });
    expect(again.session.diagnostics).toEqual([]);
    await again.session.close();

    const later = await load();
    expect((await later.session.getAgent(jack.agentId)).info.state).toBe('active');
    expect(later.session.diagnostics).toEqual([]);
  });

  it('gets the names of what was sent to it in between by a person and by agents, and can still hear it', async () => {
    const { root, session, jack, load, events } = await withoutJack();
    const refused = { code: 'SESSION_AGENT_TERMINATED' };
    await expect(jack.harken('Are you there?')).rejects.toMatchObject(refused);
    await expect(root.inform(jack, 'Come back.')).rejects.toMatchObject(refused);
    const said = await root.harken('We miss him.');
    await expect(root.inform(jack, new LoggedString('[Root]: We miss you.', said))).rejects.toMatchObject(
      refused,
    );
    const piece = find(await events(), 'agent:piece_of_text', { text: 'Come back.' });
    const undelivered = (await events()).filter(({ type }) => type === 'agent:undelivered');
    expect(undelivered.map(({ agentId, data, substance }) => [agentId, data, substance])).toEqual([
      [jack.agentId, { text: 'Are you there?', source: { kind: 'user' } }, undefined],
      [jack.agentId, { text: 'Come back.', source: { kind: 'agent', agentId: root.agentId } }, piece.id],
      [
        jack.agentId,
        { text: '[Root]: We miss you.', source: { kind: 'agent', agentId: root.agentId } },
        said,
      ],
    ]);
    await session.close();

    const again = await load({ tools: [bash] });
    const { agent, missed } = await again.session.revive(jack.agentId);
    expect(missed.map(({ text }) => String(text))).toEqual([
      'Are you there?',
      'Come back.',
      '[Root]: We miss you.',
    ]);
    expect(missed.map(({ text }) => text.messageId)).toEqual([undelivered[0]?.id, piece.id, said]);
    expect(find(await events(), 'agent:revived').data.missed).toEqual(undelivered.map(({ id }) => id));
    expect(agent.awaitsResponse).toBe(false);
    for (const { text, source } of missed) await agent.harken(text, { source });
    expect((await agent.transcript()).slice(-3).map(({ content }) => content)).toEqual(
      missed.map(({ text }) => String(text)),
    );
    const index = createLogIndex(await events());
    const speakers = index.sayings.filter(({ hearings }) =>
      hearings.some(({ agentId }) => agentId === jack.agentId),
    );
    expect(speakers.slice(-3).map(({ speaker }) => [speaker.kind, speaker.agentId])).toEqual([
      ['user', undefined],
      ['agent', root.agentId],
      ['user', undefined],
    ]);
  });

  it('misses nothing twice: what it missed before an earlier revival is not named again', async () => {
    const { session, jack } = await withoutJack();
    await expect(jack.harken('One')).rejects.toThrow();
    expect((await session.revive(jack)).missed.map(({ text }) => String(text))).toEqual(['One']);
    await session.terminateAgent(jack.agentId);
    await expect(jack.harken('Two')).rejects.toThrow();
    expect((await session.revive(jack)).missed.map(({ text }) => String(text))).toEqual(['Two']);
  });

  it('and whose tools are gone is revived, and the log and a diagnostic name them', async () => {
    const { session, jack, load, events } = await withoutJack();
    await session.close();
    const again = await load({ tools: [] });
    await again.session.revive(jack.agentId);
    const log = await events();
    const revived = find(log, 'agent:revived');
    expect(revived.data.missingTools).toEqual(['bash']);
    expect(again.session.diagnostics).toEqual([
      {
        code: 'tools_gone',
        eventId: revived.id,
        position: log.findIndex(({ id }) => id === revived.id),
        message: expect.stringContaining('bash'),
      },
    ]);
  });

  it('cannot be revived twice, or while it is active, or if it never was, and nothing is recorded', async () => {
    const { root, session, jack, events } = await withoutJack();
    await session.revive(jack);
    const before = await events();
    await expect(session.revive(jack)).rejects.toMatchObject({ code: 'SESSION_AGENT_ACTIVE' });
    await expect(session.revive(root)).rejects.toMatchObject({ code: 'SESSION_AGENT_ACTIVE' });
    await expect(session.revive('agent_009')).rejects.toMatchObject({ code: 'SESSION_AGENT_NOT_FOUND' });
    expect(await events()).toEqual(before);
  });

  it('is revived once by two that do it at the same time', async () => {
    const { session, jack, events } = await withoutJack();
    const settled = await Promise.allSettled([session.revive(jack), session.revive(jack)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(typesOf(await events()).filter((type) => type === 'agent:revived')).toHaveLength(1);
  });

  it('cannot be revived while the answer is under way that it gave when it ended', async () => {
    const asked = Promise.withResolvers<void>();
    const reply = Promise.withResolvers<void>();
    const { create, events } = prepare();
    const { session } = await create({
      model: model(async () => {
        asked.resolve();
        await reply.promise;
        return says('Too late.');
      }),
    });
    const jack = await session.createAgent({ name: 'Jack' });
    const response = jack.response();
    await asked.promise;
    await session.terminateAgent(jack.agentId);
    await expect(session.revive(jack)).rejects.toMatchObject({ code: 'SESSION_AGENT_BUSY' });
    reply.resolve();
    await expect(response).rejects.toMatchObject({ code: 'SESSION_AGENT_TERMINATED' });
    await session.revive(jack);
    expect(typesOf(await events())).not.toContain('agent:text');
  });

  it('cannot be revived after the session was closed', async () => {
    const { session, jack } = await withoutJack();
    await session.close();
    await expect(session.revive(jack)).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });

  it('while a tool delivers to it is named as one that did not hear it', async () => {
    const { create, events } = prepare();
    const send = tools({
      send: async (call) => {
        const { agentId } = await hostOf(call).createAgent({ name: 'Jill' });
        await hostOf(call).terminateAgent(agentId);
        return done(
          await hostOf(call)
            .deliver(agentId, { text: 'Hello.' })
            .then(
              () => 'heard',
              (error) => error.code,
            ),
        );
      },
    });
    const { root } = await create({ tools: [send], model: answers(calls('send'), says('Done.')) });
    await root.harken('Go');
    await root.response();
    const log = await events();
    expect(find(log, 'agent:undelivered')).toMatchObject({
      agentId: 'agent_002',
      substance: find(log, 'agent:piece_of_text').id,
      data: { text: 'Hello.' },
    });
    expect(find(log, 'agent:piece_of_text').cause).toBe(find(log, 'agent:tool_call').id);
    expect(find(log, 'agent:tool_result').data.output).toBe('SESSION_AGENT_TERMINATED');
  });
});
