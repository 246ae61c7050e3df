import { type JsonObject, parseEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { readSessionV1, readSessionV2, writeSessionV2 } from '../src/index.ts';
import { bookClubV1, bookClubV2, call, logOf, recordsIn } from './make.ts';

const creation = { message_id: 'a', event_type: 'agent_created', agent_id: 'agent_001', name: 'Mona' };
const entry = (fields: object) => ({
  event_type: 'transcript_entry',
  agent_id: 'agent_001',
  role: 'user',
  content: 'Hello',
  ...fields,
});

/** The codes and lines of the diagnostics of these records, after the creation of an agent on line 1. */
function diagnosticsOf(...records: object[]): string[] {
  const { report } = readSessionV2(logOf(creation, ...(records as (typeof creation)[])));
  return report.diagnostics.map(({ code, line }) => `${code} ${line}`);
}

describe('the report', () => {
  it.each<[string, string[], object[]]>([
    ['an id that is taken', ['id_taken 2'], [entry({ message_id: 'a' })]],
    ['an id that no event can have', ['id_replaced 2'], [entry({ message_id: 'a b' })]],
    ['no id', ['id_missing 2'], [entry({})]],
    ['a reference that leads nowhere', ['reference_missing 2'], [entry({ message_id: 'b', substance: 'z' })]],
    [
      'references to later records and to itself',
      ['reference_ahead 2', 'reference_ahead 3'],
      [entry({ message_id: 'b', cause: 'c' }), entry({ message_id: 'c', substance: 'c' })],
    ],
    [
      'substance and cause in one record',
      ['substance_and_cause 2'],
      [entry({ message_id: 'b', substance: 'a', cause: 'a' })],
    ],
    ['an unknown kind', ['unknown_kind 2'], [{ message_id: 'b', event_type: 'mood', agent_id: 'agent_001' }]],
    ['an unknown role', ['unknown_kind 2'], [entry({ message_id: 'b', role: 'narrator' })]],
    [
      'a record of the other dialect',
      ['other_dialect 2', 'other_dialect 3'],
      [
        entry({ message_id: 'b', utterance_ref: 'a' }),
        { message_id: 'c', agent_id: 'agent_001', role: 'user', content: 'Hello' },
      ],
    ],
    ['content that is no text', ['wrong_value 2'], [entry({ message_id: 'b', content: [{ type: 'text' }] })]],
    [
      'a result without a call',
      ['call_missing 2'],
      [entry({ message_id: 'b', role: 'tool', tool_call_id: 'k' })],
    ],
    [
      'invalid tool calls',
      ['wrong_value 2'],
      [entry({ message_id: 'b', role: 'assistant', tool_calls: [{ id: 'k' }] })],
    ],
    [
      'a cause with several calls',
      ['reference_not_exact 3', 'call_missing 5', 'reference_not_exact 5'],
      [
        entry({
          message_id: 'b',
          role: 'assistant',
          tool_calls: [call('k1', 'task', {}), call('k2', 'task', {})],
        }),
        entry({ message_id: 'c', cause: 'b' }),
        entry({ message_id: 'd', role: 'tool', tool_call_id: 'k2', cause: 'b' }),
        entry({ message_id: 'e', role: 'tool', tool_call_id: 'k3', cause: 'b' }),
      ],
    ],
    [
      'a substance that is not an utterance, and several substances',
      ['reference_not_exact 3', 'reference_not_exact 4'],
      [
        entry({ message_id: 'b', role: 'assistant', tool_calls: [call('k1', 'task', {})] }),
        entry({ message_id: 'c', substance: 'b' }),
        entry({ message_id: 'd', substance: ['c', 'a'] }),
      ],
    ],
    [
      'an agent that was never created, once',
      ['agent_not_created 2'],
      [entry({ message_id: 'b', agent_id: 'x' }), entry({ message_id: 'c', agent_id: 'x' })],
    ],
    [
      'an agent that is created too late, and two with one name',
      ['agent_not_created 2', 'name_taken 3'],
      [entry({ message_id: 'b', agent_id: 'x' }), { ...creation, message_id: 'c', agent_id: 'x' }],
    ],
    [
      'an agent that is created twice',
      ['agent_created_twice 2'],
      [{ ...creation, message_id: 'b', name: 'Otto' }],
    ],
    [
      'an invalid agent id',
      ['agent_id_replaced 2'],
      [{ ...creation, message_id: 'b', agent_id: 'Otto the 2nd', name: 'Otto' }],
    ],
    ['no agent', ['agent_missing 2'], [entry({ message_id: 'b', agent_id: null })]],
  ])('names the line of %s', (_, expected, records) => {
    expect(diagnosticsOf(...records)).toEqual(expected);
  });

  it('is empty for a healthy log', () => {
    // Only a result says which of the two calls of m3 it means.
    const withoutInexact = (records: JsonObject[], causeKey: string) =>
      records.map((record) => {
        const { [causeKey]: cause, ...others } = record;
        return cause === 'm3' && record.role !== 'tool' ? others : record;
      });
    expect(readSessionV2(logOf(...withoutInexact(bookClubV2, 'cause'))).report.diagnostics).toEqual([]);
    expect(readSessionV1(logOf(...withoutInexact(bookClubV1, 'caused_by'))).report.diagnostics).toEqual([]);
  });

  it('counts the lines of the file, including blank ones, and names the file', () => {
    const text = `${logOf(creation)}\n\n${logOf(entry({ message_id: 'b', substance: 'z' }))}`;
    expect(readSessionV2(text, { file: 'club.jsonl' }).report.diagnostics).toEqual([
      {
        code: 'reference_missing',
        file: 'club.jsonl',
        line: 4,
        message: 'substance "z" does not name any record of the log.',
      },
    ]);
  });
});

describe('unusual input', () => {
  it('is kept as a notice with its text, if a line is not JSON', () => {
    const text = `${logOf(creation)}{"message_id": "b", "ev\n42\n${logOf(entry({ message_id: 'c' }))}`;
    const { events, report } = readSessionV2(text, { file: 'club.jsonl' });
    expect(report.diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['not_json', 2],
      ['not_an_object', 3],
    ]);
    expect(events.map(({ id }) => id)).toEqual(['a', 'line-2', 'line-3', 'c']);
    expect(events[1]).toMatchObject({
      type: 'system:notice',
      data: { file: 'club.jsonl', line: 2, raw: '{"message_id": "b", "ev' },
    });
    const written = writeSessionV2(events);
    expect(recordsIn(written.text)).toEqual([creation, entry({ message_id: 'c' })]);
    expect(written.leftOut).toEqual({ 'system:notice': 2 });
  });

  it('is kept with U+FFFD in place of bytes that are not UTF-8', () => {
    const bytes = new TextEncoder().encode(logOf(creation, entry({ message_id: 'b', content: 'caf#' })));
    const { events, report } = readSessionV2(bytes.map((byte) => (byte === 0x23 ? 0xe9 : byte)));
    expect(report.diagnostics.map(({ code, line }) => [code, line])).toEqual([['not_utf8', 2]]);
    expect(events[1]?.data.text).toBe('caf\uFFFD');
  });

  it('is kept as an event of a type of its own, if the kind is unknown', () => {
    const mood = {
      message_id: 'b',
      event_type: 'Mood Swing',
      agent_id: 'agent_001',
      cause: 'a',
      level: [1, null],
    };
    const { events } = readSessionV2(logOf(creation, mood));
    expect(events[1]).toEqual({
      id: 'b',
      type: 'session_v2:mood_swing',
      timestamp: null,
      agentId: 'agent_001',
      cause: 'a',
      data: mood,
    });
    expect(parseEvent(events[1])).toBe(events[1]);
  });

  it('gets a new id if its id is in use, and references mean the first', () => {
    const records = [
      creation,
      entry({ message_id: 'b' }),
      entry({ message_id: 'b', content: 'again' }),
      entry({ message_id: 'c', substance: 'b' }),
    ];
    const { events } = readSessionV2(logOf(...records));
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'b:2', 'c']);
    expect(events[3]?.substance).toBe('b');
    expect(recordsIn(writeSessionV2(events).text)).toEqual(records);
  });

  it('gets a new id if an event of an earlier record has its id, and references mean the record', () => {
    const several = entry({
      message_id: 'b',
      role: 'assistant',
      content: 'Two things.',
      tool_calls: [call('k1', 'task', {}), call('k2', 'task', {})],
    });
    const records = [
      creation,
      several,
      entry({ message_id: 'b.1' }),
      entry({ message_id: 'c', cause: 'b.2' }),
    ];
    const { events } = readSessionV2(logOf(...records));
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'b.1', 'b.2', 'b.1:2', 'c']);
    // `b.2` is the id of an event, but not of a record.
    expect(events.at(-1)?.cause).toBe('b.2:2');
    expect(recordsIn(writeSessionV2(events).text)).toEqual(records);
  });
});
