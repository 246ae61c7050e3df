import { type CapturedEvent, formatErrors, type HansardError, type JsonObject } from '@hansard/events';
import { causesOf, createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import {
  detectSessionFormat,
  readSessionV1,
  readSessionV2,
  sessionFormats,
  writeSessionV1,
  writeSessionV2,
} from '../src/index.ts';
import { bookClubV1, bookClubV2, call, logOf, recordsIn } from './make.ts';

function eventOf(events: readonly CapturedEvent[], id: string): CapturedEvent | undefined {
  return events.find((event) => event.id === id);
}

const entry = (fields: JsonObject): JsonObject => ({
  event_type: 'transcript_entry',
  agent_id: 'agent_001',
  ...fields,
});

describe('readSessionV2', () => {
  const { events } = readSessionV2(logOf(...bookClubV2));

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

  it('gives no event a time', () => {
    expect(new Set(events.map(({ timestamp }) => timestamp))).toEqual(new Set([null]));
  });

  it('links an agent to its creator, and a delivery to its source', () => {
    expect(eventOf(events, 'm1')).toMatchObject({
      type: 'agent:created',
      agentId: 'agent_001',
      data: { languageModel: 'test/small' },
    });
    expect(eventOf(events, 'm4')).toMatchObject({
      type: 'agent:created',
      // The message made two calls, and the record does not say which of them.
      cause: ['m3.1', 'm3.2'],
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

  it('finds the sender of a message by its substance, and otherwise names the outside world', () => {
    expect(eventOf(events, 'm2')?.data.source).toEqual({ kind: 'external' });
    expect(eventOf(events, 'm11')?.data.source).toEqual({ kind: 'agent', agentId: 'agent_001' });
    expect(eventOf(events, 'm14')?.data.source).toEqual({ kind: 'agent', agentId: 'agent_002' });
    const unknown = entry({
      message_id: 'n1',
      role: 'user',
      content: '[Ida]: Hello',
      substance: 'elsewhere',
    });
    expect(readSessionV2(logOf(unknown)).events[0]?.data.source).toEqual({ kind: 'agent' });
    for (const kind of ['external', 'system']) {
      const named = { ...unknown, source: kind };
      expect(readSessionV2(logOf(named)).events[0]?.data.source).toEqual({ kind });
    }
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
    const read = readSessionV2(logOf(...bookClubV2, compiled));
    expect(eventOf(read.events, 'n2')?.cause).toEqual(['m13', 'm2']);
  });

  it('never links a result to an utterance because their texts are equal', () => {
    const result = (id: string, text: string, more: JsonObject = {}) =>
      entry({ message_id: id, role: 'tool', tool_call_id: 'k', content: text, ...more });
    const says = (id: string, agent: string, text: string) =>
      entry({ message_id: id, agent_id: agent, role: 'assistant', content: text });
    const records = [
      entry({ message_id: 'c', role: 'assistant', tool_calls: [call('k', 'discuss', {})] }),
      says('s1', 'agent_002', 'yes'),
      result('r1', 'yes'),
      says('s2', 'agent_003', 'yes'),
      result('r2', 'yes'),
      result('r3', 'yes', { substance: 's1' }),
      result('r4', 'yes', { cause: ['s1', 's2'] }),
    ];
    const { events: read } = readSessionV2(logOf(...records));
    const { sayings } = createLogIndex(read);
    const hearers = ['s1', 's2'].map((id) =>
      sayings.find((saying) => saying.id === id)?.hearings.map(({ event }) => event.id),
    );
    expect(hearers).toEqual([['r3', 'r4'], ['r4']]);
    expect(recordsIn(writeSessionV2(read).text)).toEqual(records);
  });

  it('reads the cause of a result as the call that it answers, if the message made several', () => {
    const records = [
      ...bookClubV2,
      entry({ message_id: 'n1', role: 'tool', tool_call_id: 'k2', content: 'Otto left', cause: 'm3' }),
      entry({
        message_id: 'n2',
        role: 'tool',
        tool_call_id: 'k1',
        content: 'Mona left',
        cause: ['m13', 'm3'],
      }),
    ];
    const { events: read } = readSessionV2(logOf(...records));
    expect(['n1', 'n2'].map((id) => eventOf(read, id)?.cause)).toEqual(['m3.2', ['m13', 'm3.1']]);
    const index = createLogIndex(read);
    const why = causesOf(index, 'n1').find(({ id }) => id === 'n1')?.because;
    expect(why).toEqual([{ kind: 'cause', id: 'm3.2', isLost: false }]);
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
        subject: 'd2',
      },
    });
    expect(eventOf(denied, 'd4')).toMatchObject({ via: 'd4:hook', data: { status: 'error', tool: 'task' } });
  });

  it('names no verdict if the hook agent said several things during the call, or two agents have its name', () => {
    const doorkeeper = (id: string) => ({ message_id: id, event_type: 'agent_created', name: 'Doorkeeper' });
    const no = (id: string, agent: string) =>
      entry({ message_id: id, agent_id: agent, role: 'assistant', content: 'No.' });
    const causeOf = (...records: JsonObject[]) => {
      const denial = "Error: Action blocked by hook 'Doorkeeper': No.";
      const log = logOf(
        { ...doorkeeper('d1'), agent_id: 'agent_009' },
        no('early', 'agent_009'),
        entry({ message_id: 'd2', role: 'assistant', tool_calls: [call('k9', 'task', {})] }),
        ...records,
        entry({ message_id: 'd4', role: 'tool', tool_call_id: 'k9', content: denial }),
      );
      return eventOf(readSessionV2(log).events, 'd4:hook')?.cause;
    };
    expect(causeOf()).toBe('d2');
    expect(causeOf(no('n1', 'agent_009'))).toEqual(['d2', 'n1']);
    expect(causeOf(no('n1', 'agent_009'), no('n2', 'agent_009'))).toBe('d2');
    expect(causeOf({ ...doorkeeper('d3'), agent_id: 'agent_010' }, no('n1', 'agent_010'))).toBe('d2');
  });

  it('accepts a byte order mark, CRLF and blank lines, and bytes', () => {
    const text = `\uFEFF${logOf(...bookClubV2).replaceAll('\n', '\r\n\r\n')}`;
    const expected = readSessionV2(logOf(...bookClubV2));
    const blankLines = expected.report.diagnostics.map(({ line, ...diagnostic }) => ({
      ...diagnostic,
      line: 2 * line - 1,
    }));
    const report = { ...expected.report, diagnostics: blankLines, balance: expect.anything() };
    expect(readSessionV2(text)).toEqual({ ...expected, report });
    expect(readSessionV2(new TextEncoder().encode(text))).toEqual({ ...expected, report });
  });
});

describe('readSessionV1', () => {
  const { events } = readSessionV1(logOf(...bookClubV1));

  it('reads utterance_ref as the substance, and caused_by as the cause if there is no substance', () => {
    expect(eventOf(events, 'm9')).toMatchObject({ substance: 'm8' });
    expect(eventOf(events, 'm9')?.cause).toBeUndefined();
    expect(eventOf(events, 'm8')?.cause).toBe('m7');
    expect(eventOf(events, 'm4')?.cause).toEqual(['m3.1', 'm3.2']);
  });

  it('reads source as the sender of a message', () => {
    const sources = ['m2', 'm7', 'm10'].map((id) => eventOf(events, id)?.data.source);
    expect(sources).toEqual([
      { kind: 'external' },
      { kind: 'agent', agentId: 'agent_001' },
      { kind: 'system' },
    ]);
  });

  const delivered = (id: string, agent: string, text: string, cause: string) => ({
    message_id: id,
    agent_id: agent,
    role: 'user',
    content: text,
    source: 'agent_001',
    caused_by: cause,
  });

  it('reads messages of one call with the same text as one text', () => {
    const records = [
      ...bookClubV1,
      { message_id: 'c', agent_id: 'agent_001', role: 'assistant', tool_calls: [call('k3', 'discuss', {})] },
      delivered('n1', 'agent_002', 'Which page?', 'c'),
      delivered('n2', 'agent_003', 'Which page?', 'c'),
      delivered('n3', 'agent_003', 'Begin.', 'c'),
    ];
    const { events: read } = readSessionV1(logOf(...records));
    expect(read.filter(({ type }) => type === 'agent:piece_of_text')).toMatchObject([
      { id: 'n1:text', agentId: 'agent_001', cause: 'c', data: { text: 'Which page?' } },
      { id: 'n3:text', agentId: 'agent_001', cause: 'c', data: { text: 'Begin.' } },
    ]);
    expect(['n1', 'n2', 'n3'].map((id) => eventOf(read, id)?.substance)).toEqual([
      'n1:text',
      'n1:text',
      'n3:text',
    ]);
    const { text, leftOut } = writeSessionV1(read);
    expect(recordsIn(text)).toEqual(records);
    expect(leftOut).toEqual({});
  });

  it('does not join equal texts of a message with several calls', () => {
    const records = [
      ...bookClubV1,
      delivered('n1', 'agent_002', 'yes', 'm3'),
      delivered('n2', 'agent_003', 'yes', 'm3'),
    ];
    const { events: read } = readSessionV1(logOf(...records));
    expect(read.some(({ type }) => type === 'agent:piece_of_text')).toBe(false);
    for (const id of ['n1', 'n2']) expect(eventOf(read, id)?.cause).toEqual(['m3.1', 'm3.2']);
    expect(recordsIn(writeSessionV1(read).text)).toEqual(records);
  });

  it('reads a caused_by that is not the utterance_ref as via, and writes both again', () => {
    const delivery = eventOf(events, 'm11');
    expect(delivery).toMatchObject({ substance: 'm8', via: 'm6' });
    expect(delivery?.data).not.toHaveProperty('record.put./caused_by');
    expect(recordsIn(writeSessionV1(events).text).at(-1)).toEqual(bookClubV1.at(-1));
  });
});

describe('a file that is not a session log', () => {
  function failureOf(read: () => unknown): HansardError {
    try {
      read();
    } catch (error) {
      if (formatErrors.is(error)) return error;
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
    expect(formatErrors.is(error, 'FORMAT_NO_RECORDS')).toBe(true);
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
