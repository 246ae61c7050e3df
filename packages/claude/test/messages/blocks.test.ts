import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assistant, mapMessages, ofType, toolResult, toolUse, user } from './mapped.ts';

describe('blocks of a message', () => {
  it('the first event of a message has its id, the others ID.1, ID.2 …', () => {
    const { events } = mapMessages([
      assistant([{ type: 'text', text: 'a' }, { type: 'thinking', thinking: 'b' }, toolUse('t1', 'Bash')], {
        uuid: 'u1',
      }),
      user([toolResult('t1', 'x'), { type: 'text', text: 'go on' }], { uuid: 'u2' }),
    ]);
    expect(events.map(({ id, type, messageId }) => [id, type, messageId])).toEqual([
      ['u1', 'agent:text', 'msg_1'],
      ['u1.1', 'agent:thinking', 'msg_1'],
      ['u1.2', 'agent:tool_call', 'msg_1'],
      ['u2', 'agent:tool_result', 'u2'],
      ['u2.1', 'user:message', 'u2'],
      ['msg_1:inference', 'agent:inference', 'msg_1'],
    ]);
  });

  it('a message without an id leaves its events without one', () => {
    const { events } = mapMessages([user('hi'), user('hi', { uuid: 'not an id!' })]);
    expect(events[0]?.id).toHaveLength(26);
    expect(events[1]?.data).toMatchObject({ details: { uuid: 'not an id!' } });
  });

  it('a repeated message is recorded once', () => {
    const message = assistant([{ type: 'text', text: 'a' }], { uuid: 'u1' });
    const { events } = mapMessages([message, { ...message, isReplay: true }]);
    expect(ofType(events, 'agent:text')).toHaveLength(1);
  });

  it('another message with the same id is recorded too, and keeps the id in its details', () => {
    const { events } = mapMessages([user('a', { uuid: 'u1' }), user('b', { uuid: 'u1' })]);
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'b']);
    expect(events[1]?.data.details).toEqual({ uuid: 'u1' });
  });

  it('unknown blocks are kept; narrative fidelity leaves out their content', () => {
    const blocks = [
      { type: 'redacted_thinking', data: 'CANARY' },
      { type: 'futureBlock', level: 3, content: 'CANARY' },
    ];
    const { events } = mapMessages([assistant(blocks)]);
    expect(events.slice(0, 2)).toMatchObject([
      { type: 'agent:redacted_thinking', data: { leftOut: { data: 6 } } },
      { type: 'agent:future_block', data: { level: 3, leftOut: { content: 6 } } },
    ]);
    expect(JSON.stringify(events)).not.toContain('CANARY');
    const full = mapMessages([assistant(blocks)], 'full').events;
    expect(full[0]?.data).toEqual({ data: 'CANARY' });
    expect(full[1]?.data).toEqual({ level: 3, content: 'CANARY' });
  });

  it('images that a user sends are kept, their bytes only at full fidelity', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'CANARYAB' };
    const sha256 = createHash('sha256').update(Buffer.from('CANARYAB', 'base64')).digest('hex');
    const parts = [{ kind: 'image', mediaType: 'image/png', sha256, size: 6 }];
    const message = { type: 'user:message', data: { text: '', parts } };
    const narrative = mapMessages([user([{ type: 'image', source }])]).events;
    expect(narrative).toMatchObject([{ id: sha256, type: 'content:stored', timestamp: null }, message]);
    expect(narrative[0]?.data).toEqual({ sha256, size: 6, leftOut: { base64: 8 } });
    const full = mapMessages([user([{ type: 'image', source }])], 'full').events;
    expect(full).toMatchObject([{ data: { sha256, size: 6, base64: 'CANARYAB' } }, message]);
  });

  it('images, documents and texts stand beside the text that they were sent with', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAEC' } };
    const file = {
      type: 'document',
      title: 'notes.txt',
      source: { type: 'text', media_type: 'text/plain', data: 'Buy owls.' },
    };
    const { events } = mapMessages([user([image, { type: 'text', text: 'See?' }, file, image])], 'full');
    const sha256 = createHash('sha256')
      .update(Buffer.from([0, 1, 2]))
      .digest('hex');
    const shown = { kind: 'image', mediaType: 'image/png', sha256, size: 3 };
    expect(events.map(({ type }) => type)).toEqual(['content:stored', 'user:message']);
    expect(events[1]?.data).toEqual({
      text: 'See?',
      source: { kind: 'user' },
      parts: [shown, { kind: 'text', text: 'Buy owls.', mediaType: 'text/plain', name: 'notes.txt' }, shown],
    });
  });

  it.each([{ type: 'text' }, { type: 'created' }, { type: 'tool_call' }, { text: 'no type' }, 'no object'])(
    '%j, which is not a block, is kept as a notice',
    (block) => {
      const { events } = mapMessages([assistant([block])]);
      expect(events[0]?.type).toBe('system:notice');
    },
  );

  it('a plain string is a text block, of the model and of the user', () => {
    const { events } = mapMessages([assistant('hello'), user('hi')]);
    expect(events.map(({ type, data }) => [type, data.text]).slice(0, 2)).toEqual([
      ['agent:text', 'hello'],
      ['user:message', 'hi'],
    ]);
  });
});

describe('the speaker of a user message', () => {
  it.each([
    [{}, 'user'],
    [{ isReplay: true }, 'user'],
    [{ isSynthetic: true }, 'system'],
    [{ origin: { kind: 'task-notification' } }, 'system'],
    [{ origin: { kind: 'human' } }, 'user'],
    [{ origin: { kind: 'constructor' } }, 'user'],
    [{ origin: { kind: 'coordinator' } }, 'system'],
    [{ parent_tool_use_id: 't1' }, 'agent'],
    [{ parent_tool_use_id: 't1', origin: { kind: 'human' } }, 'user'],
  ])('%j: %s', (fields, kind) => {
    const { events } = mapMessages([user('hi', fields)]);
    expect(ofType(events, 'user:message')[0]?.data.source).toEqual({ kind });
  });

  it('is the agent or the teammate that the message names', () => {
    const origin = { kind: 'peer', name: 'ledger' };
    const note = '<teammate-message teammate_id="alice">\nSeven.\n</teammate-message>';
    const { events } = mapMessages([user('hi', { origin }), user(note, { uuid: 'u2' })]);
    expect(ofType(events, 'user:message').map(({ data }) => [data.source, data.text])).toEqual([
      [{ kind: 'external', what: 'session', name: 'ledger' }, 'hi'],
      [{ kind: 'agent', name: 'alice' }, 'Seven.'],
    ]);
  });
});
