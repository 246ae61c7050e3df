import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSessionV2 } from '@hansard/formats';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { SessionViewer } from '@hansard/views';
import { describe, expect, it, onTestFinished } from 'vitest';
import { heard } from './foreign-log.ts';
import { dispatchId, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, says, tools } from './scripted.ts';

/** A session log of another program, of two agents. */
const records = [
  { message_id: 'msg_001', event_type: 'agent_created', agent_id: 'agent_root', language_model: 'm-1' },
  {
    message_id: 'msg_002',
    event_type: 'transcript_entry',
    agent_id: 'agent_root',
    role: 'user',
    content: 'Ask Ann.',
  },
  {
    message_id: 'msg_003',
    event_type: 'transcript_entry',
    agent_id: 'agent_root',
    role: 'assistant',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'task', arguments: '{"name":"Ann"}' } }],
  },
  {
    message_id: 'msg_004',
    event_type: 'agent_created',
    agent_id: 'agent_002',
    cause: 'msg_003',
    name: 'Ann',
  },
];
const file = records.map((record) => `${JSON.stringify(record)}\n`).join('');
const eventsOf = (text: string) => readSessionV2(text).events;

describe('openSession', () => {
  it('creates a session, and continues it when it is called again', async () => {
    const { open } = prepare();
    const options = { systemPrompt: 'You chair.', model: answers(says('Begun.'), says('Continued.')) };
    const first = await open(options);
    expect(first.isNew).toBe(true);
    await first.root.harken('Begin.');
    await first.root.response();
    await first.close();
    const again = await open(options);
    expect(again.isNew).toBe(false);
    await again.root.harken('Continue.');
    expect(String(await again.root.response())).toBe('Continued.');
    expect((await again.root.transcript()).map(({ content }) => content)).toEqual([
      'You chair.',
      'Begin.',
      'Begun.',
      'Continue.',
      'Continued.',
    ]);
  });

  it('refuses what is not expected, and changes nothing', async () => {
    const { open, events, store } = prepare();
    await expect(open({ expect: 'existing' })).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
    await (await open()).close();
    const before = await events();
    await expect(open({ expect: 'new' })).rejects.toMatchObject({ code: 'STORE_DISPATCH_EXISTS' });
    expect(await events()).toEqual(before);
  });

  it.each([
    ['that it exists, without an id', { expect: 'existing', dispatchId: undefined }],
    ['events and a system prompt', { events: eventsOf(file), systemPrompt: 'You chair.' }],
    ['peers and a system prompt', { peers: [{ name: 'Ann' }], systemPrompt: 'You chair.' }],
    ['no peers', { peers: [] }],
  ])('refuses options that exclude each other: %s', async (_, options) => {
    const { open, store } = prepare();
    await expect(open(options as object)).rejects.toMatchObject({ code: 'SESSION_OPTION_INVALID' });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });

  it('of two that create the same session at once, one is refused while the other has it', async () => {
    const { open, store } = prepare();
    const settled = await Promise.allSettled([open(), open()]);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(settled).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'STORE_LOCKED' }) }),
    );
    expect(typesOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(['agent:created']);
  });

  it('is refused while another owner has the session, and changes nothing', async () => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-open-session-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const owner = await prepare(openJsonFileStore({ root })).open();
    const { open, events } = prepare(openJsonFileStore({ root }));
    const before = await events();
    await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(await events()).toEqual(before);
    await owner.close();
  });

  it('completes a session whose process died before it had an agent', async () => {
    const { open, store, events } = prepare();
    await createDispatch(store, taskDir, { role: 'session', dispatchId, fidelity: 'full' });
    const session = await open({ systemPrompt: 'You chair.' });
    expect(typesOf(await events())).toEqual(['agent:created', 'agent:system_prompt']);
    expect(session.root.agentId).toBe('agent_001');
  });

  it('creates nothing if a tool provider cannot list its tools', async () => {
    const { open, store } = prepare();
    const broken = { ...tools({}), listTools: () => Promise.reject(new Error('no list')) };
    await expect(open({ tools: [broken] })).rejects.toThrow('no list');
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('the events of a session log', () => {
  it('are where a new session begins, with ids, agents and open calls as its load reads them', async () => {
    const { open, events } = prepare();
    const session = await open({ events: eventsOf(file), model: answers(says('Ann is here.')) });
    expect(session.diagnostics).toEqual([]);
    expect(
      session.listAgents().map(({ agentId, name, parentAgentId }) => [agentId, name, parentAgentId]),
    ).toEqual([
      ['agent_root', null, null],
      ['agent_002', 'Ann', 'agent_root'],
    ]);
    expect(session.allocateAgentId()).toBe('agent_003');
    expect((await events()).slice(0, 4).map(({ id }) => id)).toEqual([
      'msg_001',
      'msg_002',
      'msg_003',
      'msg_004',
    ]);
    expect(await session.root.transcript()).toMatchObject([
      { role: 'user', content: 'Ask Ann.' },
      { role: 'assistant', toolCalls: [{ toolCallId: 'c1' }] },
      { role: 'tool', toolCallId: 'c1', isError: true },
    ]);
    expect(String(await session.root.response())).toBe('Ann is here.');
  });

  it('are not copied again, and the session says what it lacks of a file that has grown', async () => {
    const { open, events } = prepare();
    const model = answers(says('Ann is here.'), says('Still here.'));
    const session = await open({ events: eventsOf(file), model });
    await session.root.response();
    await session.close();
    const before = await events();
    const same = await open({ events: eventsOf(file), model });
    expect(same.diagnostics).toEqual([]);
    await same.close();
    const grown = `${file}${JSON.stringify({ ...records[1], message_id: 'msg_005' })}\n`;
    const again = await open({ events: eventsOf(grown), model });
    expect(again.diagnostics).toMatchObject([{ code: 'not_in_log', eventId: 'msg_005' }]);
    expect((await events()).slice(0, before.length)).toEqual(before);
    expect((await events()).map(({ id }) => id)).not.toContain('msg_005');
  });

  it('are numbered on in a SessionViewer of the store, and keep their own ids in the log', async () => {
    const { open, store, events } = prepare();
    const session = await open({
      events: eventsOf(file),
      model: answers(says('Ann is here.'), says('Yes.')),
    });
    await session.root.response();
    await session.root.harken('Is she?');
    await session.root.response();
    await session.close();
    const viewer = await SessionViewer.open(store, { taskDir, dispatchId });
    expect(viewer.getTranscript('agent_root').map(({ messageId }) => messageId)).toEqual([
      'msg_002',
      'msg_003',
      'msg_005',
      'msg_006',
      'msg_007',
      'msg_008',
    ]);
    expect(
      viewer
        .traceMessageFlow('msg_008')
        .map(({ id }) => id)
        .slice(-2),
    ).toEqual(['msg_007', 'msg_008']);
    expect((await events()).map(({ id }) => id)).not.toContain('msg_005');
  });

  it('are copied whole after a kill that left an empty dispatch', async () => {
    const { open, store } = prepare();
    await createDispatch(store, taskDir, { role: 'session', dispatchId, fidelity: 'full' });
    const session = await open({ events: eventsOf(file) });
    expect(session.root.agentId).toBe('agent_root');
    expect(session.diagnostics).toEqual([]);
  });

  it.each([
    ['empty', []],
    [
      'without an agent',
      heard('agent_root', 'm1', 'Hello').map((event) => ({
        ...event,
        id: 'm1',
        timestamp: '2026-03-01T09:00:00.000Z',
      })),
    ],
  ])('are refused where they are %s, before anything is created', async (_, events) => {
    const { open, store } = prepare();
    await expect(open({ events })).rejects.toMatchObject({ code: 'SESSION_LOG_INVALID' });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });

  it('are read from a file that is cut as far as its records are whole', async () => {
    const { open } = prepare();
    const session = await open({ events: eventsOf(file.slice(0, -30)) });
    expect(session.listAgents()).toHaveLength(1);
    expect(await session.root.transcript()).toHaveLength(3);
  });

  it('do not make a session of a dispatch that has other events and no agent', async () => {
    const { open, store, events } = prepare();
    await createDispatch(store, taskDir, { role: 'session', dispatchId, fidelity: 'full' });
    await appendEvents(store, taskDir, dispatchId, heard('agent_root', 'm1', 'Hello'));
    await expect(open({ events: eventsOf(file) })).rejects.toMatchObject({ code: 'SESSION_LOG_INVALID' });
    expect(typesOf(await events())).toEqual(['user:message']);
  });
});
