import type { CapturedEvent, JsonObject } from '@hansard/events';
import { FormatError, isFormatError } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import {
  detectSessionFormat,
  readSessionV1,
  readSessionV2,
  sessionFormats,
  writeSessionV1,
  writeSessionV2,
} from '../src/index.ts';
import { bookClubV1, bookClubV2, call, logOf, now, recordsIn } from './make.ts';

function eventOf(events: readonly CapturedEvent[], id: string): CapturedEvent | undefined {
  return events.find((event) => event.id === id);
}

const entry = (fields: JsonObject): JsonObject => ({
  event_type: 'transcript_entry',
  agent_id: 'agent_001',
  ...fields,
});

describe('readSessionV2', () => {
  const { events } = readSessionV2(logOf(...bookClubV2), { now });

  it('keeps every id, and numbers the events of a record with several events', () => {
    expect(events.map(({ id }) => id)).toEqual(
      bookClubV2.flatMap(({ message_id: id }) => (id === 'm3' ? ['m3', 'm3.1', 'm3.2'] : [String(id)])),
    );
    for (const id of ['m3', 'm3.1', 'm3.2']) expect(eventOf(events, id)?.messageId).toBe('m3');
    expect(['m3', 'm3.1', 'm3.2'].map((id) => eventOf(events, id)?.type)).toEqual([
      'agent:text',
      'agent:tool_call',
      'agent:tool_call',
    ]);
  });

  it('gives every event the time of import', () => {
    expect(new Set(events.map(({ timestamp }) => timestamp))).toEqual(new Set(['2026-03-01T09:30:00.000Z']));
  });

  it('links an agent to its creator, and a delivery to its source', () => {
    expect(eventOf(events, 'm1')).toMatchObject({
      type: 'agent:created',
      agentId: 'agent_001',
      data: { languageModel: 'test/small' },
    });
    expect(eventOf(events, 'm4')).toMatchObject({
      type: 'agent:created',
      cause: 'm3',
      data: { name: 'Mona' },
    });
    expect(eventOf(events, 'm6')).toMatchObject({
      type: 'agent:system_prompt',
      data: { text: 'You read fast.' },
    });
    expect(eventOf(events, 'm10')).toMatchObject({ type: 'agent:piece_of_text', cause: 'm9' });
    expect(eventOf(events, 'm14')).toMatchObject({ type: 'user:message', substance: 'm13' });
    expect(eventOf(events, 'm15')).toMatchObject({ type: 'agent:tool_result', cause: 'm13' });
  });

  it('finds the sender of a message by its substance, and otherwise assumes a person', () => {
    expect(eventOf(events, 'm2')?.data.source).toEqual({ kind: 'user' });
    expect(eventOf(events, 'm11')?.data.source).toEqual({ kind: 'agent', agentId: 'agent_001' });
    expect(eventOf(events, 'm14')?.data.source).toEqual({ kind: 'agent', agentId: 'agent_002' });
    const unknown = entry({
      message_id: 'n1',
      role: 'user',
      content: '[Ida]: Hello',
      substance: 'elsewhere',
    });
    expect(readSessionV2(logOf(unknown)).events[0]?.data.source).toEqual({ kind: 'agent' });
  });

  it('names the tool of a result by its call, and reads the arguments of a call', () => {
    expect(eventOf(events, 'm8')?.data).toMatchObject({
      toolCallId: 'k2',
      tool: 'task',
      status: 'completed',
    });
    expect(eventOf(events, 'm9')?.data.input).toEqual({ prompt: 'Which page?' });
  });

  it('keeps a list of causes', () => {
    const compiled = entry({ message_id: 'n2', role: 'tool', tool_call_id: 'k3', cause: ['m13', 'm2'] });
    const read = readSessionV2(logOf(...bookClubV2, compiled), { now });
    expect(eventOf(read.events, 'n2')?.cause).toEqual(['m13', 'm2']);
  });

  it('links a result to the only utterance of another agent since the call with the same text', () => {
    const result = (id: string, text: string, more: JsonObject = {}) =>
      entry({ message_id: id, role: 'tool', tool_call_id: 'k', content: text, ...more });
    const says = (id: string, agent: string, text: string) =>
      entry({ message_id: id, agent_id: agent, role: 'assistant', content: text });
    const records = [
      says('s0', 'agent_002', 'yes'),
      entry({ message_id: 'c', role: 'assistant', tool_calls: [call('k', 'discuss', {})] }),
      result('r0', 'yes'),
      says('s1', 'agent_002', 'yes'),
      result('r1', 'yes'),
      says('s2', 'agent_003', 'yes'),
      result('r2', 'yes'),
      says('s3', 'agent_002', 'no'),
      says('s4', 'agent_003', 'no'),
      result('r3', 'no'),
      result('r4', 'no', { cause: 'c' }),
    ];
    const { events: read } = readSessionV2(logOf(...records), { now });
    const links = ['r0', 'r1', 'r2', 'r3', 'r4'].map((id) => eventOf(read, id)?.substance);
    expect(links).toEqual([undefined, 's1', 's2', undefined, undefined]);
    expect(recordsIn(writeSessionV2(read).text)).toEqual(records);
  });

  it('keeps only those fields of a record that its events lack', () => {
    expect(eventOf(events, 'm13')?.data).toEqual({ text: 'Page ninety.' });
    expect(eventOf(events, 'm7')?.data.record).toBeUndefined();
    expect(eventOf(events, 'm9')?.data.record).toEqual({
      format: 'session-v2',
      put: { '/tool_calls/0/function/arguments': '{"prompt": "Which page?"}' },
      absent: ['/tool_calls/0/type'],
    });
  });

  it('treats a result as an error by its first words, unless it is an utterance', () => {
    const results = readSessionV2(
      logOf(
        ...bookClubV2,
        entry({ message_id: 'n1', role: 'tool', tool_call_id: 'k1', content: 'Error: the room is full.' }),
        entry({
          message_id: 'n2',
          role: 'tool',
          tool_call_id: 'k1',
          content: 'Error: ha!',
          substance: 'm13',
        }),
      ),
      { now },
    ).events.slice(-2);
    expect(results.map(({ data }) => data.status)).toEqual(['error', 'completed']);
  });

  it('records a denial as a decision of the hook, caused by the call and by the utterance of the hook agent', () => {
    const { events: denied } = readSessionV2(
      logOf(
        { message_id: 'd1', event_type: 'agent_created', agent_id: 'agent_009', name: 'Doorkeeper' },
        entry({ message_id: 'd2', role: 'assistant', tool_calls: [call('k9', 'task', { name: 'Third' })] }),
        entry({
          message_id: 'd3',
          agent_id: 'agent_009',
          role: 'assistant',
          content: 'No, the room is full.',
        }),
        entry({
          message_id: 'd4',
          role: 'tool',
          tool_call_id: 'k9',
          content: "Error: Action blocked by hook 'Doorkeeper': the room is full.",
        }),
      ),
      { now },
    );
    expect(denied.map(({ id }) => id)).toEqual(['d1', 'd2', 'd3', 'd4:hook', 'd4']);
    expect(eventOf(denied, 'd4:hook')).toMatchObject({
      type: 'harness:hook_decision',
      agentId: 'agent_001',
      cause: ['d2', 'd3'],
      data: {
        hook: 'Doorkeeper',
        on: 'tool_call',
        decision: 'deny',
        reason: 'the room is full.',
        toolCallId: 'k9',
      },
    });
    expect(eventOf(denied, 'd4')).toMatchObject({ via: 'd4:hook', data: { status: 'error', tool: 'task' } });
  });

  it('accepts a byte order mark, CRLF and blank lines, and bytes', () => {
    const text = `\uFEFF${logOf(...bookClubV2).replaceAll('\n', '\r\n\r\n')}`;
    const expected = readSessionV2(logOf(...bookClubV2), { now });
    expect(readSessionV2(text, { now })).toEqual(expected);
    expect(readSessionV2(new TextEncoder().encode(text), { now })).toEqual(expected);
  });
});

describe('readSessionV1', () => {
  const { events } = readSessionV1(logOf(...bookClubV1), { now });

  it('reads utterance_ref as the substance, and caused_by as the cause if there is no substance', () => {
    expect(eventOf(events, 'm9')).toMatchObject({ substance: 'm8' });
    expect(eventOf(events, 'm9')?.cause).toBeUndefined();
    expect(eventOf(events, 'm8')?.cause).toBe('m7');
    expect(eventOf(events, 'm4')?.cause).toBe('m3');
  });

  it('reads source as the sender of a message', () => {
    const sources = ['m2', 'm7', 'm10'].map((id) => eventOf(events, id)?.data.source);
    expect(sources).toEqual([{ kind: 'user' }, { kind: 'agent', agentId: 'agent_001' }, { kind: 'system' }]);
  });

  it('reads messages of one call with the same text as one text', () => {
    const told = (id: string, agent: string, text: string) => ({
      message_id: id,
      agent_id: agent,
      role: 'user',
      content: text,
      source: 'agent_001',
      caused_by: 'm3',
    });
    const records = [
      ...bookClubV1,
      told('n1', 'agent_003', 'Which page?'),
      told('n2', 'agent_003', 'Begin.'),
    ];
    const { events: read } = readSessionV1(logOf(...records), { now });
    expect(read.filter(({ type }) => type === 'agent:piece_of_text')).toMatchObject([
      { id: 'm7:text', agentId: 'agent_001', cause: 'm3', data: { text: 'Which page?' } },
      { id: 'n2:text', agentId: 'agent_001', cause: 'm3', data: { text: 'Begin.' } },
    ]);
    expect(['m7', 'n1', 'n2'].map((id) => eventOf(read, id)?.substance)).toEqual([
      'm7:text',
      'm7:text',
      'n2:text',
    ]);
    const { text, leftOut } = writeSessionV1(read);
    expect(recordsIn(text)).toEqual(records);
    expect(leftOut).toEqual({});
  });

  it('keeps a caused_by that is not the utterance_ref', () => {
    expect(eventOf(events, 'm11')).toMatchObject({
      substance: 'm8',
      data: { record: { put: { '/caused_by': 'm6' } } },
    });
  });
});

describe('a file that is not a session log', () => {
  function failureOf(read: () => unknown): FormatError {
    try {
      read();
    } catch (error) {
      if (error instanceof FormatError) return error;
      throw error;
    }
    throw new Error('it was read');
  }

  it.each([
    ['an empty file', ''],
    ['blank lines', '\n \r\n'],
    ['text', 'Dear diary,\ntoday'],
    ['a log of something else', logOf({ type: 'user', message: 'hello' })],
  ])('is an error that names the file: %s', (_, text) => {
    const error = failureOf(() => readSessionV2(text, { file: 'diary.jsonl' }));
    expect(isFormatError(error, 'FORMAT_NO_RECORDS')).toBe(true);
    expect(error.message).toContain('diary.jsonl');
  });

  it('is an error that names the other dialect, for a log of that dialect', () => {
    const error = failureOf(() => readSessionV2(logOf(...bookClubV1), { file: 'club.jsonl' }));
    expect(error).toMatchObject({
      code: 'FORMAT_OTHER_DIALECT',
      details: { file: 'club.jsonl', dialect: 'session-v1' },
    });
    expect(failureOf(() => readSessionV1(logOf(...bookClubV2))).message).toContain('Read it as session-v2');
  });
});

describe('detectSessionFormat', () => {
  it('distinguishes the dialects, and reports when it cannot', () => {
    expect(detectSessionFormat(logOf(...bookClubV1))).toBe('session-v1');
    expect(detectSessionFormat(logOf(...bookClubV2))).toBe('session-v2');
    expect(detectSessionFormat(logOf({ hello: 'world' }))).toBeNull();
  });

  it('names the format that reads and writes the log', () => {
    for (const [id, format] of Object.entries(sessionFormats)) expect(format.id).toBe(id);
  });
});
