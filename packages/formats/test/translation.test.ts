import type { JsonObject } from '@hansard/events';
import { causesOf, createLogIndex, effectsOf, SessionViewer } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { readSessionV1, writeSessionV1, writeSessionV2 } from '../src/index.ts';
import { logOf, recordsIn } from './make.ts';

/** The translation of the v1 specification: Ana speaks, a translator hears and translates it, Bill hears the translation. */
const translated: JsonObject[] = [
  { message_id: 'c1', event_type: 'agent_created', agent_id: 'ana', name: 'Ana' },
  { message_id: 'c2', event_type: 'agent_created', agent_id: 'translator', name: 'Translator' },
  { message_id: 'c3', event_type: 'agent_created', agent_id: 'bill', name: 'Bill' },
  { message_id: 'ask', agent_id: 'ana', role: 'user', content: 'Greet Bill.', source: 'external' },
  { message_id: 'said', agent_id: 'ana', role: 'assistant', content: 'Buenos días.', caused_by: 'ask' },
  {
    message_id: 'given',
    agent_id: 'translator',
    role: 'user',
    content: 'Buenos días.',
    source: 'ana',
    utterance_ref: 'said',
    caused_by: 'said',
  },
  {
    message_id: 'answer',
    agent_id: 'translator',
    role: 'assistant',
    content: 'Good day.',
    caused_by: 'given',
  },
  {
    message_id: 'heard',
    agent_id: 'bill',
    role: 'user',
    content: '[Ana]: Good day.',
    source: 'ana',
    utterance_ref: 'said',
    caused_by: 'answer',
  },
];

describe('a translated delivery of a v1 log', () => {
  const { events, report } = readSessionV1(logOf(...translated));
  const index = createLogIndex(events);

  it('leads in `why` through the translator to the original utterance and on to the request', () => {
    const rows = causesOf(index, 'heard');
    expect(rows.map(({ id }) => id)).toEqual(['ask', 'said', 'given', 'answer', 'heard']);
    expect(rows.at(-1)?.because).toEqual([
      { kind: 'substance', id: 'said', isLost: false },
      { kind: 'via', id: 'answer', isLost: false },
    ]);
    expect(rows.find(({ id }) => id === 'answer')?.because).toEqual([
      { kind: 'cause', id: 'given', isLost: false },
    ]);
  });

  it('is an effect of the translation, and the end of the message flow through it', () => {
    expect(effectsOf(index, 'answer').map(({ id }) => id)).toEqual(['answer', 'heard']);
    const flow = new SessionViewer(events).traceMessageFlow('heard');
    expect(flow.map(({ id }) => id)).toEqual(['ask', 'said', 'given', 'answer', 'heard']);
  });

  it('is a hearing of the original, with its own text, via the translation', () => {
    const said = index.sayings.find(({ id }) => id === 'said');
    expect(said?.hearings).toMatchObject([
      { agentId: 'translator', how: 'same' },
      { agentId: 'bill', how: 'altered', text: '[Ana]: Good day.', via: 'answer' },
    ]);
    expect(report.diagnostics).toEqual([]);
  });

  it('passes unaltered through any other event without becoming an alteration', () => {
    const whispered = translated.map((record) =>
      record.message_id === 'heard' ? { ...record, content: '[Ana]: Buenos días.' } : record,
    );
    const { sayings } = createLogIndex(readSessionV1(logOf(...whispered)).events);
    const said = sayings.find(({ id }) => id === 'said');
    expect(said?.hearings.at(-1)).toMatchObject({ agentId: 'bill', how: 'wrapped', via: 'answer' });
  });

  it('has both keys again in v1, byte for byte', () => {
    const { text, diagnostics } = writeSessionV1(events);
    expect(text).toBe(logOf(...translated));
    expect(diagnostics).toEqual([]);
  });

  it('keeps the original in v2, and reports that the translation is not named', () => {
    const { text, diagnostics } = writeSessionV2(events);
    expect(recordsIn(text).at(-1)).toMatchObject({ message_id: 'heard', substance: 'said' });
    expect(recordsIn(text).at(-1)).not.toHaveProperty('cause');
    expect(diagnostics).toEqual([
      {
        code: 'field_not_written',
        line: 8,
        eventId: 'heard',
        field: 'cause',
        message: 'session-v2 cannot hold the cause of heard as recorded.',
      },
    ]);
  });
});
