import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

/** A session whose model says what it was given, and keeps it. */
async function talk() {
  const given: string[][] = [];
  const prepared = prepare();
  const options = {
    model: model(({ messages }) => {
      given.push(messages.map(({ role, text }) => `${role}: ${text}`));
      return says(`Answer ${given.length}.`);
    }),
  };
  const { root, session } = await prepared.create({ ...options, systemPrompt: 'Be brief.' });
  const ask = async (text: string) => {
    const id = await root.harken(text);
    await root.response();
    return id;
  };
  return { prepared, options, root, session, given, ask };
}

describe('a compaction', () => {
  it('puts the summary in the place of what the model saw so far, and leaves log and transcript whole', async () => {
    const { prepared, root, given, ask } = await talk();
    await ask('One?');
    await ask('Two?');
    const id = await root.compact('They counted to two.');
    await ask('Three?');
    expect(given.at(-1)).toEqual([
      'system: Be brief.',
      expect.stringMatching(/^user: (.|\n)*They counted to two\./),
      'user: Three?',
    ]);
    expect(find(await prepared.events(), 'session:compaction')).toMatchObject({
      id,
      agentId: root.agentId,
      data: { trigger: 'manual', summary: 'They counted to two.' },
    });
    expect((await root.transcript()).map(({ content }) => content)).toEqual([
      'Be brief.',
      'One?',
      'Answer 1.',
      'Two?',
      'Answer 2.',
      'Three?',
      'Answer 3.',
    ]);
  });

  it('keeps what it says is kept, also of a call with its results, and counts once the session is loaded again', async () => {
    const prepared = prepare();
    const given: string[] = [];
    let asked = 0;
    const options = {
      tools: [tools({ look: () => done('It is green.') })],
      model: model(({ messages }) => {
        given.push(JSON.stringify(messages));
        asked += 1;
        return asked % 2 === 1 ? calls('look', {}, `call_${asked}`) : says(`Seen ${asked}.`);
      }),
    };
    const { root, session } = await prepared.create(options);
    await root.harken('Old?');
    await root.response();
    const kept = await root.harken('New?');
    await root.response();
    await root.compact('Something old.', { keptFrom: kept, trigger: 'auto' });
    await root.compact('Something older still.', { keptFrom: kept });
    await root.harken('Last?');
    await root.response();
    await session.close();
    const loaded = await prepared.load(options);
    await loaded.root.harken('Again?');
    await loaded.root.response();
    for (const messages of [given.at(-4), given.at(-2)]) {
      expect(messages).toContain('Something older still.');
      expect(messages).toContain('New?');
      expect(messages).toContain('It is green.');
      expect(messages).not.toContain('Old?');
      expect(messages).not.toContain('Something old.');
    }
    expect(given.at(-2)?.startsWith(given.at(-3)?.slice(0, -1) ?? 'none')).toBe(true);
    await loaded.session.close();
  });

  it('is refused if it would hide the message to answer, or keeps from an event of another agent', async () => {
    const { root, session, ask } = await talk();
    const ann = session.allocateAgentId();
    session.logAgentCreated(ann, { name: 'Ann' });
    const theirs = session.logTranscriptEntry(ann, { role: 'user', content: 'Ann?' });
    await ask('One?');
    const open = await root.harken('Two?');
    await expect(root.compact('One.')).rejects.toThrow(/has not answered yet/);
    await expect(root.compact('One.')).rejects.toMatchObject({ code: 'SESSION_COMPACTION_INVALID' });
    await expect(root.compact('One.', { keptFrom: theirs })).rejects.toMatchObject({
      code: 'SESSION_COMPACTION_INVALID',
      details: { agentId: root.agentId, keptFrom: theirs },
    });
    await expect(root.compact('One.', { keptFrom: 'nowhere' })).rejects.toThrow(
      /no message or event nowhere/,
    );
    await root.compact('One.', { keptFrom: open });
    await session.close();
    await expect(root.compact('More.', { keptFrom: open })).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });
});
