import { openDispatchStore } from '@hansard/dispatch';
import { sessionFormats } from '@hansard/formats';
import { takeApart } from '@hansard/prompt';
import { createMemoryStore } from '@hansard/store-memory';
import { createDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { called, created, heard, imported } from './foreign-log.ts';
import { dispatchId, find, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, says } from './scripted.ts';

describe('a log from elsewhere', () => {
  it('keeps its ids, and new agents get ids that it does not use', async () => {
    const { load } = await imported([
      created('agent_root', 'm1'),
      ...heard('agent_root', 'm2', 'Create Jack'),
      ...called('agent_root', 'm3', 'c1'),
      created('agent_jack', 'm4', 'm3', 'Jack'),
      created('agent_007', 'm5', 'm3', 'Bond'),
      created('agent_99999999999999999999', 'm6', 'm3'),
    ]);
    const { root, session } = await load();
    expect(root.agentId).toBe('agent_root');
    expect(session.listAgents().map(({ agentId, parentAgentId }) => [agentId, parentAgentId])).toEqual([
      ['agent_root', null],
      ['agent_jack', 'agent_root'],
      ['agent_007', 'agent_root'],
      ['agent_99999999999999999999', 'agent_root'],
    ]);
    expect(session.allocateAgentId()).toBe('agent_008');
  });

  it('gives its root the events without an agent, even those before the root', async () => {
    const { load, events } = await imported([
      ...heard('', 'm1', 'Create Jack'),
      ...called('', 'm2', 'c1'),
      created('agent_root', 'm3'),
    ]);
    const { root } = await load();
    expect((await events()).at(-1)).toMatchObject({
      type: 'agent:tool_result',
      agentId: 'agent_root',
      data: { toolCallId: 'c1' },
    });
    expect((await root.transcript()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(root.awaitsResponse).toBe(true);
  });

  it('is kept and usable with all its faults, which are reported with their places', async () => {
    const { load, events } = await imported([
      ...heard('agent_ghost', 'm0', 'Nobody created me'),
      created('agent_root', 'm1'),
      created('agent_two', 'm2'),
      created('agent_jack', 'm3', 'm9'),
      created('agent_jack', 'm4', 'm1', 'Jack again'),
      ...takeApart({ role: 'user', content: 'a' }, { id: 'm5', agentId: 'agent_root', substance: 'nowhere' }),
      ...takeApart(
        { role: 'user', content: 'b' },
        { id: 'm6', agentId: 'agent_jack', cause: ['m1', 'm6'], via: 'm9' },
      ),
      ...called('agent_root', 'm9', 'c1'),
      { id: 'm10', type: 'game:vote', agentId: 'agent_jack', data: { for: 'Jill' } },
    ]);
    const { root, session } = await load({ model: answers(says('Fine.')) });
    expect(session.diagnostics.map(({ code, eventId, position }) => [code, eventId, position])).toEqual([
      ['unknown_agent', 'm0', 0],
      ['second_root', 'm2', 2],
      ['reference_ahead', 'm3', 3],
      ['agent_created_twice', 'm4', 4],
      ['reference_to_nowhere', 'm5', 5],
      ['reference_ahead', 'm6', 6],
      ['reference_ahead', 'm6', 6],
    ]);
    expect(session.diagnostics[4]?.message).toContain('its substance is nowhere, which is not in this log');
    expect(root.agentId).toBe('agent_root');
    expect(session.listAgents().map(({ agentId }) => agentId)).toEqual([
      'agent_ghost',
      'agent_root',
      'agent_two',
      'agent_jack',
    ]);
    expect(await (await session.getAgent('agent_ghost')).transcript()).toHaveLength(1);
    expect(String(await root.response())).toBe('Fine.');
    expect(find(await events(), 'game:vote').data).toEqual({ for: 'Jill' });
  });

  it('with an event whose data cannot be read is loaded without it, and reports that', async () => {
    const provider = createMemoryStore();
    const { store, load } = prepare(provider);
    await createDispatch(store, taskDir, { role: 'import', dispatchId, fidelity: 'full' });
    const timestamp = '2026-03-01T09:00:00.000Z';
    provider.claimDispatch(taskDir, dispatchId);
    await provider.appendEvents(taskDir, dispatchId, [
      { ...created('agent_001', 'm1'), id: 'm1', timestamp },
      {
        id: 'm2',
        type: 'agent:text',
        timestamp,
        agentId: 'agent_001',
        messageId: 'm2',
        data: { words: ['?'] },
      },
    ]);
    const { root, session } = await load();
    expect(session.diagnostics).toMatchObject([{ code: 'unreadable_event', eventId: 'm2', position: 1 }]);
    expect(await root.transcript()).toEqual([]);
  });

  it('never reuses the id of an agent whose creation cannot be read', async () => {
    const provider = createMemoryStore();
    const { store, load } = prepare(provider);
    await createDispatch(store, taskDir, { role: 'import', dispatchId, fidelity: 'full' });
    const timestamp = '2026-03-01T09:00:00.000Z';
    provider.claimDispatch(taskDir, dispatchId);
    await provider.appendEvents(taskDir, dispatchId, [
      { id: 'm1', type: 'agent:created', timestamp, agentId: 'agent_001', data: {} },
      { id: 'm2', type: 'agent:created', timestamp, agentId: 'agent_002', data: { name: ['Jack'] } },
    ]);
    const { session } = await load();
    expect(session.diagnostics).toMatchObject([{ code: 'unreadable_event', eventId: 'm2' }]);
    expect(session.allocateAgentId()).toBe('agent_003');
  });

  it('that was answered after a call was left open is not asked to answer again', async () => {
    const { load, events } = await imported([
      created('agent_root', 'm1'),
      ...called('agent_root', 'm2', 'c1'),
      ...heard('agent_root', 'm3', 'Never mind.'),
      ...takeApart({ role: 'assistant', content: 'Fine.' }, { id: 'm4', agentId: 'agent_root' }),
    ]);
    const { root } = await load();
    expect(typesOf(await events()).at(-1)).toBe('agent:tool_result');
    expect(root.awaitsResponse).toBe(false);
  });

  it('is refused if it is the narrative of a run, has no agent, or does not exist', async () => {
    const narrative = await imported([{ ...created('agent_001', 'm1'), cause: 'c1' }], 'narrative');
    await expect(narrative.load()).rejects.toMatchObject({ code: 'SESSION_NOT_FULL' });
    const empty = await imported(heard('agent_root', 'm1', 'Hello'));
    await expect(empty.load()).rejects.toMatchObject({ code: 'SESSION_LOG_INVALID' });
    expect(typesOf(await empty.events())).toEqual(['user:message']);
    await expect(empty.load({ dispatchId: 'D2' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
  });

  it('that a store can not write to any more is not half changed', async () => {
    const provider = createMemoryStore();
    await (await prepare(provider).create()).session.close();
    const store = openDispatchStore(provider);
    await store.close();
    await expect(prepare(provider).load()).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });

  it('of smallchat is continued with its numbers, and its bytes stay', async () => {
    const { read, write } = sessionFormats.smallchat;
    const ofPrimary = '"event_type": "transcript_entry", "agent": "primary"';
    const text = [
      '{"message_id": "0", "event_type": "agent_created", "agent": "primary", "role": "primary", "name": "Primary", "cause": "user", "parent": "user", "language_model": "m-1"}',
      '{"message_id": "1", "event_type": "fragment", "agent": "user", "content": "Hi", "cause": "user"}',
      `{"message_id": "2", ${ofPrimary}, "role": "user", "content": "Hi", "substance": "1"}`,
      `{"message_id": "3", ${ofPrimary}, "role": "assistant", "content": "Hello"}`,
      '{"message_id": "4", "event_type": "transcript_edit", "agent": "primary", "action": "truncate", "n": 0}',
    ]
      .map((line) => `${line}\n\n`)
      .join('');
    const { load, events } = await imported(read(text).events);
    const { root, session } = await load({ model: answers(says('Fine.')) });
    expect({ id: root.agentId, transcript: await root.transcript() }).toEqual({
      id: 'primary',
      transcript: [],
    });
    await root.harken('How are you?');
    await root.response();
    await session.close();
    const written = write(await events()).text;
    expect(written.startsWith(text)).toBe(true);
    expect(written.slice(text.length)).toBe(
      [
        '{"message_id": "5", "event_type": "fragment", "agent": "user", "content": "How are you?", "cause": "user"}',
        `{"message_id": "6", ${ofPrimary}, "role": "user", "content": "How are you?", "substance": "5"}`,
        `{"message_id": "7", ${ofPrimary}, "role": "assistant", "content": "Fine."}`,
      ]
        .map((line) => `${line}\n\n`)
        .join(''),
    );
  });
});
