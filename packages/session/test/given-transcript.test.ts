import { readSessionV1, readSessionV2, writeSessionV1, writeSessionV2 } from '@hansard/formats';
import { putTogether, renderCalls, type TranscriptMessage } from '@hansard/prompt';
import type { ModelRequest } from '@hansard/provider';
import { LoggedString } from '@hansard/session';
import {
  createLogIndex,
  knowledgeOf,
  knownBy,
  perspectiveOf,
  SessionViewer,
  textOfItem,
} from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { model, says } from './scripted.ts';

const given: readonly TranscriptMessage[] = [
  { role: 'system', content: 'Answer in one line.' },
  { role: 'user', content: 'What is in the drawer?', source: { kind: 'external', what: 'file' } },
  {
    role: 'assistant',
    content: 'Let me look.',
    toolCalls: [
      { toolCallId: 'c1', tool: 'open', input: { what: 'drawer' } },
      { toolCallId: 'c2', tool: 'smell', input: {} },
    ],
  },
  { role: 'tool', content: 'Error: it is stuck', toolCallId: 'c2', tool: 'smell', isError: true },
  { role: 'tool', content: 'Two spoons.', toolCallId: 'c1', tool: 'open' },
  { role: 'assistant', content: 'Two spoons.' },
];

/** A model that answers with what it was given last, and keeps its inputs. */
function listening() {
  const inputs: ModelRequest['messages'][] = [];
  const listens = model(({ messages }) => {
    inputs.push(messages);
    return says(`I read ${messages.length}.`);
  });
  return { inputs, listens };
}

async function begun(options: Parameters<ReturnType<typeof prepare>['create']>[0] = {}) {
  const prepared = prepare();
  const { inputs, listens } = listening();
  const { root, session } = await prepared.create({
    model: listens,
    systemPrompt: 'You keep house.',
    initPrompt: given,
    ...options,
  });
  return { ...prepared, inputs, listens, root, session };
}

describe('an agent that begins with a given transcript', () => {
  it('has it in its transcript and in the input of its model, after its system prompt', async () => {
    const { root, inputs, events } = await begun();
    expect(typesOf(await events()).slice(0, 2)).toEqual(['agent:created', 'agent:system_prompt']);
    expect(typesOf(await events()).slice(2)).toEqual(given.map(() => 'agent:given'));
    expect(await root.transcript()).toEqual([{ role: 'system', content: 'You keep house.' }, ...given]);
    expect(root.awaitsResponse).toBe(false);
    await root.harken('Whose are they?');
    await root.response();
    expect(inputs[0]?.map((message) => [message.role, message.text])).toEqual([
      ['system', 'You keep house.'],
      ['system', 'Answer in one line.'],
      ['user', 'What is in the drawer?'],
      ['assistant', 'Let me look.'],
      ['tool', 'Two spoons.'],
      ['tool', 'Error: it is stuck'],
      ['assistant', 'Two spoons.'],
      ['user', 'Whose are they?'],
    ]);
    expect(inputs[0]?.[3]).toMatchObject({ toolCalls: [{ toolCallId: 'c1' }, { toolCallId: 'c2' }] });
  });

  it('has it after it was loaded or evicted, and no call of it is open', async () => {
    const { root, session, load, events, inputs, listens } = await begun();
    await session.evictAgent(root.agentId);
    expect(await root.transcript()).toHaveLength(given.length + 1);
    await session.close();
    const before = await events();
    const again = await load({ model: listens });
    expect(again.session.diagnostics).toEqual([]);
    expect(await events()).toEqual(before);
    await again.root.harken('Whose?');
    await again.root.response();
    expect(inputs[0]).toHaveLength(given.length + 2);
  });

  it('can be a peer or an agent of the program, with a transcript of another agent', async () => {
    const { root, session } = await begun();
    const copy = await session.createAgent({ name: 'Copy', initPrompt: await root.transcript() });
    expect(await copy.transcript()).toEqual(await root.transcript());
    const { open } = prepare();
    const peers = await open({ peers: [{ name: 'Ann', initPrompt: given }, { name: 'Ben' }] });
    expect(await peers.peers[0]?.transcript()).toEqual(given);
    expect(await peers.peers[1]?.transcript()).toEqual([]);
  });

  it('did not hear, say or do any of it: it is in no dialog, no audience, no figures and no observation', async () => {
    const observed: string[] = [];
    const { root, session, events, envelope } = await begun({
      hooks: [{ contract: 1, name: 'Eve', observe: ({ event }) => void observed.push(event.type) }],
    });
    const other = await session.createAgent({
      name: 'Ann',
      initPrompt: [{ role: 'user', content: 'Two spoons.' }],
    });
    await root.harken('Whose are they?');
    await root.response();
    await session.close();
    const log = await events();
    const viewer = new SessionViewer(log);
    expect(viewer.extractDialog([root.agentId, other.agentId]).map(({ text }) => text)).toEqual([
      'I read 8.',
    ]);
    expect(
      viewer.index.sayings.flatMap(({ hearings }) => hearings.map(({ event }) => event.type)),
    ).not.toContain('agent:given');
    expect(observed).not.toContain('agent:given');
    expect(await envelope()).toMatchObject({ usage: { turns: 1 } });
    expect((await envelope())?.periods?.toolCalls ?? []).not.toContain(2);
  });

  it('knows it: its knowledge and perspective name it as given', async () => {
    const { root, session, events } = await begun();
    await root.harken('Whose are they?');
    await root.response();
    await session.close();
    const index = createLogIndex(await events());
    expect(perspectiveOf(index, root.agentId).map(({ kind, text }) => [kind, text])).toEqual([
      ['heard', 'You keep house.'],
      ['heard', 'Answer in one line.'],
      ['given', 'What is in the drawer?'],
      ['given', 'Let me look.'],
      ['given', 'Error: it is stuck'],
      ['given', 'Two spoons.'],
      ['given', 'Two spoons.'],
      ['heard', 'Whose are they?'],
      ['said', 'I read 8.'],
    ]);
    expect(knownBy(index, root.agentId).map(({ kind, paths }) => [kind, paths.length])).toContainEqual([
      'given',
      0,
    ]);
    expect(new SessionViewer(index.events).getTranscript(root.agentId)).toHaveLength(given.length + 3);
  });

  it.each([
    { name: 'full' },
    { name: 'lastMessages', count: 3 },
    { name: 'lastMessages', count: 5 },
    { name: 'faded', budget: 90 },
  ] as const)('is given as the manifest of each call says, with the context %j', async (context) => {
    const tokens = { id: 'characters', count: (text: string) => Math.ceil(text.length / 4) };
    const { root, session, events, inputs } = await begun({ context, tokens });
    for (const question of ['Whose?', 'Since when?', 'Why two?']) {
      await root.harken(question);
      await root.response();
    }
    await session.close();
    const log = await events();
    const index = createLogIndex(log);
    const rendered = [...renderCalls(log, { counters: [tokens] })];
    expect(rendered.map(({ messages }) => messages)).toEqual(inputs);
    const isShortened = context.name !== 'full';
    for (const [at, answer] of [...(knowledgeOf(index).agents.get(root.agentId)?.answers ?? [])].entries()) {
      const known = answer.given.map(textOfItem).filter((text) => text !== '');
      const input = (inputs[at] ?? []).map(({ text }) => text).filter((text) => !text.startsWith('['));
      if (context.name !== 'faded') expect(known).toEqual(input);
      else expect(known).toHaveLength(input.length);
      if (isShortened && at === 2) expect(known.length).toBeLessThan(answer.arrived.length);
    }
  });

  it('keeps a LoggedString as text', async () => {
    const { root } = await begun({
      initPrompt: [{ role: 'user', content: new LoggedString('Hello', 'e1') as unknown as string }],
    });
    expect((await root.transcript()).at(-1)).toEqual({ role: 'user', content: 'Hello' });
  });

  it.each([
    ['v1', writeSessionV1, readSessionV1],
    ['v2', writeSessionV2, readSessionV2],
  ] as const)('is written as entries of a session-%s log, and read back as given', async (_, write, read) => {
    const { session, root, events } = await begun();
    await root.harken('Whose are they?');
    await root.response();
    await session.close();
    const log = await events();
    const { text } = write(log, { isExtended: true });
    const records = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map(({ role }) => role)).toEqual([
      undefined,
      'system',
      ...given.map(({ role }) => role),
      'user',
      'assistant',
    ]);
    expect(records[4]).toMatchObject({
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [{ id: 'c1' }, { id: 'c2' }],
    });
    const again = read(text);
    expect(again.report.diagnostics).toEqual([]);
    expect(typesOf(again.events).filter((type) => type === 'agent:given')).toHaveLength(given.length);
    const plain = (entries: ReturnType<typeof putTogether>) =>
      entries.map(({ message: { source: _source, ...message } }) => message);
    expect(plain(putTogether(again.events))).toEqual(plain(putTogether(log)));
    expect(write(again.events, { isExtended: true }).text).toBe(text);
    // Without additional keys nothing says that it was given; the transcript is the same.
    const schemaOnly = write(log);
    expect(schemaOnly.text).not.toContain('"given"');
    expect(plain(putTogether(read(schemaOnly.text).events))).toEqual(plain(putTogether(log)));
  });
});

describe('a given transcript that no model can be given', () => {
  it.each([
    ['an unknown role', [{ role: 'robot', content: 'Beep' }], 0],
    ['a message without content', [{ role: 'user', content: null }], 0],
    ['content that is no text', [{ role: 'assistant', content: [{ text: 'Hi' }] }], 0],
    [
      'a call of a user',
      [{ role: 'user', content: 'Go', toolCalls: [{ toolCallId: 'c1', tool: 'open', input: {} }] }],
      0,
    ],
    ['a call without a result', [...given.slice(0, 4)], 2],
    ['a result without a call', [given[4]], 0],
    ['a second result of a call', [...given.slice(0, 5), given[4]], 5],
  ])('is refused where it has %s, and nothing is created', async (_, initPrompt, index) => {
    const { open, store } = prepare();
    const refused = { code: 'SESSION_GIVEN_INVALID', details: { index } };
    const options = { initPrompt: initPrompt as readonly TranscriptMessage[] };
    await expect(open(options)).rejects.toMatchObject(refused);
    await expect(open({ peers: [{ name: 'Ann', ...options }] })).rejects.toMatchObject(refused);
    expect(await store.getDispatchEnvelopes('cafe/tasks/first-meeting')).toEqual([]);
    const session = await open();
    await expect(session.createAgent(options)).rejects.toMatchObject(refused);
    expect(session.listAgents()).toHaveLength(1);
  });

  it('does not begin a session that begins with events', async () => {
    const { open } = prepare();
    const { events } = await begun();
    await expect(open({ initPrompt: given, events: await events() })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
    expect(find(await events(), 'agent:given').data.role).toBe('system');
  });
});
