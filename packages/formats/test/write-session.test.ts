import {
  type CapturedEvent,
  createIdSource,
  type JsonObject,
  type NewEvent,
  newEvent,
  toTimestamp,
} from '@hansard/events';
import { createLogIndex, dialogOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import {
  readSessionV1,
  readSessionV2,
  sessionFormats,
  writeSessionV1,
  writeSessionV2,
} from '../src/index.ts';
import { bookClubV1, bookClubV2, inexactLines, logOf, now, recordsIn } from './make.ts';

const mintId = createIdSource({ now });

function recorded(...events: NewEvent[]): CapturedEvent[] {
  return events.map((event) => ({ id: mintId(), timestamp: toTimestamp(now()), ...event }));
}

const host = { agentId: 'agent_001' };
const mona = { agentId: 'agent_002' };
const usage = { inputTokens: 3, outputTokens: 2 };
const toolCall = { toolCallId: 'k1', tool: 'discuss', metadata: {} };

/** A recorded session in which a host asks Mona: the answer of the host thinks, speaks and calls. */
const session = recorded(
  newEvent('session:init', { model: 'test/small', sessionId: 's' }),
  newEvent('agent:created', { languageModel: 'test/small' }, { ...host, id: 'root' }),
  newEvent('agent:thinking', { text: 'Ask her.' }, { ...host, id: 'answer', messageId: 'answer' }),
  newEvent('agent:text', { text: 'One moment.' }, { ...host, id: 'answer.1', messageId: 'answer' }),
  newEvent(
    'agent:tool_call',
    { ...toolCall, input: { prompt: 'Tea?' } },
    { ...host, id: 'answer.2', messageId: 'answer' },
  ),
  newEvent(
    'agent:inference',
    { model: 'test/small', usage },
    { ...host, id: 'inference', messageId: 'answer' },
  ),
  newEvent('agent:created', { name: 'Mona' }, { ...mona, id: 'mona', cause: 'answer.2' }),
  newEvent('agent:piece_of_text', { text: 'Tea?' }, { ...host, id: 'piece', cause: 'answer.2' }),
  newEvent(
    'user:message',
    { text: 'Tea?', source: { kind: 'agent', agentId: 'agent_001' } },
    { ...mona, id: 'heard', messageId: 'heard', substance: 'piece' },
  ),
  newEvent('agent:text', { text: 'Gladly.' }, { ...mona, id: 'said', messageId: 'said', cause: 'inference' }),
  newEvent(
    'agent:tool_result',
    { ...toolCall, status: 'completed', durationMs: 4, output: 'Gladly.' },
    { ...host, id: 'result', messageId: 'result', substance: 'said' },
  ),
);

const specified = [sessionFormats['session-v1'], sessionFormats['session-v2']];

describe('a session that Hansard recorded', () => {
  it('is written as a v2 log, with references to the ids of the records', () => {
    const { text } = writeSessionV2(session);
    expect(recordsIn(text)).toEqual([
      {
        message_id: 'root',
        event_type: 'agent_created',
        agent_id: 'agent_001',
        language_model: 'test/small',
      },
      {
        message_id: 'answer.1',
        event_type: 'transcript_entry',
        agent_id: 'agent_001',
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [
          { id: 'k1', type: 'function', function: { name: 'discuss', arguments: '{"prompt":"Tea?"}' } },
        ],
      },
      {
        message_id: 'mona',
        event_type: 'agent_created',
        agent_id: 'agent_002',
        cause: 'answer.1',
        name: 'Mona',
      },
      {
        message_id: 'piece',
        event_type: 'piece_of_text',
        agent_id: 'agent_001',
        content: 'Tea?',
        cause: 'answer.1',
      },
      {
        message_id: 'heard',
        event_type: 'transcript_entry',
        agent_id: 'agent_002',
        role: 'user',
        content: 'Tea?',
        substance: 'piece',
      },
      {
        message_id: 'said',
        event_type: 'transcript_entry',
        agent_id: 'agent_002',
        role: 'assistant',
        content: 'Gladly.',
      },
      {
        message_id: 'result',
        event_type: 'transcript_entry',
        agent_id: 'agent_001',
        role: 'tool',
        tool_call_id: 'k1',
        name: 'discuss',
        content: 'Gladly.',
        substance: 'said',
      },
    ]);
  });

  it('is written as a v1 log, with a shared text as messages that its call caused', () => {
    const records = recordsIn(writeSessionV1(session).text);
    expect(records).toHaveLength(6);
    expect(records[3]).toEqual({
      message_id: 'heard',
      agent_id: 'agent_002',
      role: 'user',
      content: 'Tea?',
      source: 'agent_001',
      caused_by: 'answer.1',
    });
    expect(records[5]).toMatchObject({ utterance_ref: 'said', caused_by: 'said' });
  });

  it('leaves out events that the dialect does not have, and counts them', () => {
    const leftOut = { 'session:init': 1, 'agent:thinking': 1, 'agent:inference': 1 };
    expect(writeSessionV2(session).leftOut).toEqual(leftOut);
    expect(writeSessionV1(session).leftOut).toEqual(leftOut);
    const unheard = session.filter(({ id }) => id !== 'heard');
    expect(writeSessionV1(unheard).leftOut).toEqual({ ...leftOut, 'agent:piece_of_text': 1 });
  });

  it('is read again without a diagnostic', () => {
    expect(readSessionV2(writeSessionV2(session).text).report.diagnostics).toEqual([]);
    expect(readSessionV1(writeSessionV1(session).text).report.diagnostics).toEqual([]);
  });

  it('names the call that is meant, of a message with several, and is read with the same call', () => {
    const calls = ['k1', 'k2', 'k3'].map((toolCallId, index) => {
      const id = index === 0 ? 'ask' : `ask.${index}`;
      return newEvent('agent:tool_call', { ...toolCall, toolCallId }, { ...host, id, messageId: 'ask' });
    });
    const created = (id: string, cause: string | string[]) =>
      newEvent('agent:created', {}, { id, agentId: id, cause });
    const events = recorded(
      newEvent('agent:created', {}, { ...host, id: 'root' }),
      ...calls,
      created('first', 'ask'),
      created('second', 'ask.1'),
      created('third', ['ask.2', 'root']),
      created('of_all', ['ask', 'ask.1', 'ask.2']),
      created('of_two', ['ask', 'ask.1']),
    );
    for (const { read, write } of specified) {
      const { text, diagnostics } = write(events, { isExtended: true });
      const names = recordsIn(text).map((record) => (record as JsonObject).cause_tool_call_id);
      expect(names).toEqual([undefined, undefined, 'k1', 'k2', 'k3', undefined, undefined]);
      const again = read(text);
      const causes = again.events.filter(({ type }) => type === 'agent:created').map(({ cause }) => cause);
      const all = ['ask', 'ask.1', 'ask.2'];
      expect(causes).toEqual([undefined, 'ask', 'ask.1', ['ask.2', 'root'], all, all]);
      // Two of three calls cannot be named.
      expect(diagnostics.map(({ eventId, field }) => [eventId, field])).toEqual([
        ['of_two', 'cause_tool_call_id'],
      ]);
    }
  });

  it.each([
    [{ kind: 'external' }, []],
    [{ kind: 'external', what: 'file' }, ['source']],
  ] as const)('names the outside world as the source of a message: %j', (source, lost) => {
    const message = newEvent(
      'user:message',
      { text: 'stock.csv changed', source },
      { ...host, id: 'change' },
    );
    const v1 = writeSessionV1(recorded(message));
    expect(recordsIn(v1.text)).toMatchObject([{ message_id: 'change', source: 'external' }]);
    expect(v1.diagnostics.map(({ field }) => field)).toEqual(lost);
    const v2 = writeSessionV2(recorded(message));
    expect(recordsIn(v2.text)[0]).not.toHaveProperty('source');
    expect(v2.diagnostics.map(({ field }) => field)).toEqual(lost);
    for (const { events } of [readSessionV1(v1.text), readSessionV2(v2.text)])
      expect(events[0]?.data.source).toEqual({ kind: 'external' });
  });

  it('has a record of its own for a block that comes after its answer was complete, and says so', () => {
    const call = (id: string, toolCallId: string) =>
      newEvent('agent:tool_call', { ...toolCall, toolCallId }, { ...host, id, messageId: 'ask' });
    const events = recorded(
      newEvent('agent:text', { text: 'I look.' }, { ...host, id: 'ask', messageId: 'ask' }),
      call('ask.1', 'k1'),
      newEvent('agent:inference', { model: 'test/small', usage }, { ...host, messageId: 'ask' }),
      call('ask.2', 'k2'),
    );
    for (const { write } of specified) {
      const { text, diagnostics } = write(events);
      const records = recordsIn(text) as JsonObject[];
      expect(
        records.map(({ message_id: id, tool_calls: calls }) => [id, (calls as JsonObject[])[0]?.id]),
      ).toEqual([
        ['ask', 'k1'],
        ['ask.2', 'k2'],
      ]);
      expect(diagnostics).toMatchObject([{ line: 2, eventId: 'ask.2', field: 'message_id' }]);
    }
  });

  it('reports a reference to a later event, if the log does not have it under that id', () => {
    const ulid = '01JM8Z7T3V0000000000000001';
    const heard = (id: string, cause: string) =>
      newEvent('user:message', { text: 'Hm?', source: { kind: 'user' } }, { ...host, id, cause });
    const events = recorded(
      heard('of_record', 'later'),
      heard('of_none', 'notice'),
      heard('of_number', ulid),
      newEvent('harness:stall', { idleMs: 1, limitMs: 1 }, { id: 'notice' }),
      heard('later', 'of_none'),
      heard(ulid, 'later'),
    );
    const { text, diagnostics } = writeSessionV1(events);
    expect((recordsIn(text) as JsonObject[]).map(({ caused_by: cause }) => cause)).toEqual([
      'later',
      'notice',
      ulid,
      'of_none',
      'later',
    ]);
    expect(diagnostics.map(({ line, field }) => [line, field])).toEqual([
      [2, 'caused_by'],
      [3, 'caused_by'],
    ]);
  });

  it('is empty without agents', () => {
    expect(writeSessionV2([])).toEqual({ text: '', leftOut: {}, diagnostics: [], omittedKeys: {} });
  });
});

describe('a session that was read', () => {
  it('is written with the later events', () => {
    const { events } = readSessionV2(logOf(...bookClubV2));
    const more = recorded(
      newEvent(
        'user:message',
        { text: 'Good night.', source: { kind: 'user' } },
        { ...mona, id: 'night', messageId: 'night', cause: 'm3.2' },
      ),
    );
    const night = {
      message_id: 'night',
      event_type: 'transcript_entry',
      agent_id: 'agent_002',
      role: 'user',
      content: 'Good night.',
    };
    const { text, omittedKeys } = writeSessionV2([...events, ...more]);
    expect(recordsIn(text)).toEqual([...bookClubV2, night]);
    expect(omittedKeys).toEqual({ cause: 1, cause_tool_call_id: 1 });
    const extended = writeSessionV2([...events, ...more], { isExtended: true });
    expect(recordsIn(extended.text)).toEqual([
      ...bookClubV2,
      { ...night, cause: 'm3', cause_tool_call_id: 'k2' },
    ]);
  });

  it('is written in the other dialect, with additional keys but without keys of its own dialect', () => {
    const [creation = {}, message = {}, ...others] = bookClubV1;
    const { events } = readSessionV1(logOf(creation, { ...message, mood: 'calm' }, ...others));
    const { text, leftOut, omittedKeys } = writeSessionV2(events, { isExtended: true });
    expect({ leftOut, omittedKeys }).toEqual({ leftOut: {}, omittedKeys: {} });
    const { report } = readSessionV2(text);
    expect(report.records).toBe(bookClubV1.length);
    expect(report.diagnostics.map(({ code, line }) => [code, line])).toEqual(
      inexactLines['session-v1'].map((line) => ['reference_not_exact', line]),
    );
    expect(recordsIn(text)[1]).toEqual({
      message_id: 'm2',
      event_type: 'transcript_entry',
      agent_id: 'agent_001',
      role: 'user',
      content: 'Open the club.',
      mood: 'calm',
    });
    expect(recordsIn(text).at(-1)).toMatchObject({ substance: 'm8' });
    expect(recordsIn(text).at(-1)).not.toHaveProperty('caused_by');
  });

  it('has the same dialog in either dialect', () => {
    const { events } = readSessionV2(logOf(...bookClubV2));
    const inV1 = readSessionV1(writeSessionV1(events).text).events;
    const [ofV2, ofV1] = [events, inV1].map((read) =>
      dialogOf(createLogIndex(read), ['Mona', 'Otto']).map(({ speaker, text, audience }) => ({
        speaker,
        text,
        audience: audience.map(({ agentId, how }) => [agentId, how]),
      })),
    );
    expect(ofV1).toEqual(ofV2);
    expect(ofV2?.map(({ text }) => text)).toEqual(['Which page?', 'Page ninety.']);
  });
});

describe('messages of hooks', () => {
  const hooked = recorded(
    newEvent('agent:created', {}, { ...host, id: 'root' }),
    newEvent('user:message', { text: 'A cake?', source: { kind: 'user' } }, { ...host, id: 'asked' }),
    newEvent('agent:created', { name: 'Memory', hook: 'Memory' }, { ...mona, id: 'memory', cause: 'asked' }),
    newEvent(
      'user:message',
      { text: 'What matters?', source: { kind: 'system', hook: 'Memory' } },
      { ...mona, id: 'question', cause: 'asked' },
    ),
    newEvent('agent:text', { text: 'No nuts.' }, { ...mona, id: 'said', messageId: 'said' }),
    newEvent(
      'user:message',
      { text: 'No nuts.', source: { kind: 'agent', ...mona, hook: 'Memory' } },
      { ...host, id: 'heard', substance: 'said' },
    ),
    newEvent(
      'user:message',
      { text: 'Be brief.', source: { kind: 'system', hook: 'Style' } },
      { ...host, id: 'reminder', cause: 'asked' },
    ),
  );

  it('come in v1 from the system, or from the agent of the hook, with what the hook observed as their cause', () => {
    const { text } = writeSessionV1(hooked);
    const records = recordsIn(text) as JsonObject[];
    const of = (id: string) => records.find((record) => record.message_id === id);
    expect(of('reminder')).toMatchObject({ source: 'system', caused_by: 'asked', agent_id: 'agent_001' });
    expect(of('question')).toMatchObject({ source: 'system', caused_by: 'asked', agent_id: 'agent_002' });
    expect(of('heard')).toMatchObject({ source: 'agent_002', utterance_ref: 'said' });
    expect(of('memory')).toMatchObject({ event_type: 'agent_created', name: 'Memory', caused_by: 'asked' });
  });

  it('say that neither dialect can hold the name of the hook', () => {
    for (const write of [writeSessionV1, writeSessionV2]) {
      const { diagnostics } = write(hooked);
      expect(
        diagnostics
          .filter(({ code }) => code === 'field_not_written')
          .map(({ eventId, field }) => `${eventId} ${field}`),
      ).toEqual(['memory hook', 'question source', 'heard source', 'reminder source']);
    }
  });
});
