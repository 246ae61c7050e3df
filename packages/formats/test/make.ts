import type { JsonObject, JsonValue } from '@hansard/events';

export const now = () => Date.parse('2026-03-01T09:30:00.000Z');

/** Records as the text of a log. */
export function logOf(...records: JsonValue[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** The text of a log as its records. */
export function recordsIn(text: string): JsonValue[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as JsonValue);
}

export function call(id: string, name: string, input: JsonValue): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

const library = { agent_id: 'agent_001', language_model: 'test/small' };

/** The lines of both book clubs that name a message with two calls as a cause, without the call. */
export const inexactLines = { 'session-v1': [4, 5, 7], 'session-v2': [4, 5] } as const;

/** A librarian sends one question to two readers of a book; Mona answers, Otto hears it and is silent. */
export const bookClubV2: JsonObject[] = [
  { message_id: 'm1', event_type: 'agent_created', ...library },
  {
    message_id: 'm2',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'user',
    content: 'Open the club.',
  },
  {
    message_id: 'm3',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'assistant',
    content: 'Two readers will do.',
    tool_calls: [call('k1', 'task', { name: 'Mona' }), call('k2', 'task', { name: 'Otto' })],
  },
  { message_id: 'm4', event_type: 'agent_created', agent_id: 'agent_002', cause: 'm3', name: 'Mona' },
  { message_id: 'm5', event_type: 'agent_created', agent_id: 'agent_003', cause: 'm3', name: 'Otto' },
  {
    message_id: 'm6',
    event_type: 'transcript_entry',
    agent_id: 'agent_002',
    role: 'system',
    content: 'You read fast.',
  },
  {
    message_id: 'm7',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'tool',
    tool_call_id: 'k1',
    name: 'task',
    content: 'Mona is here',
  },
  {
    message_id: 'm8',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'tool',
    tool_call_id: 'k2',
    content: 'Otto is here',
  },
  {
    message_id: 'm9',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'assistant',
    tool_calls: [{ id: 'k3', function: { name: 'discuss', arguments: '{"prompt": "Which page?"}' } }],
  },
  {
    message_id: 'm10',
    event_type: 'piece_of_text',
    agent_id: 'agent_001',
    content: 'Which page?',
    cause: 'm9',
  },
  {
    message_id: 'm11',
    event_type: 'transcript_entry',
    agent_id: 'agent_002',
    role: 'user',
    content: 'Which page?',
    substance: 'm10',
  },
  {
    message_id: 'm12',
    event_type: 'transcript_entry',
    agent_id: 'agent_003',
    role: 'user',
    content: 'Which page?',
    substance: 'm10',
  },
  {
    message_id: 'm13',
    event_type: 'transcript_entry',
    agent_id: 'agent_002',
    role: 'assistant',
    content: 'Page ninety.',
  },
  {
    message_id: 'm14',
    event_type: 'transcript_entry',
    agent_id: 'agent_003',
    role: 'user',
    content: '[Mona]: Page ninety.',
    substance: 'm13',
  },
  {
    message_id: 'm15',
    event_type: 'transcript_entry',
    agent_id: 'agent_001',
    role: 'tool',
    tool_call_id: 'k3',
    content: 'Mona: Page ninety.',
    cause: ['m13'],
  },
];

/** The same evening in the older dialect. */
export const bookClubV1: JsonObject[] = [
  { message_id: 'm1', event_type: 'agent_created', ...library },
  { message_id: 'm2', agent_id: 'agent_001', role: 'user', content: 'Open the club.', source: 'external' },
  {
    message_id: 'm3',
    agent_id: 'agent_001',
    role: 'assistant',
    content: 'Two readers will do.',
    tool_calls: [call('k1', 'task', { name: 'Mona' }), call('k2', 'task', { name: 'Otto' })],
    caused_by: 'm2',
  },
  { message_id: 'm4', event_type: 'agent_created', agent_id: 'agent_002', caused_by: 'm3', name: 'Mona' },
  { message_id: 'm5', event_type: 'agent_created', agent_id: 'agent_003', caused_by: 'm3', name: 'Otto' },
  {
    message_id: 'm6',
    agent_id: 'agent_001',
    role: 'tool',
    tool_call_id: 'k1',
    content: 'Mona is here',
    caused_by: 'm3',
  },
  {
    message_id: 'm7',
    agent_id: 'agent_002',
    role: 'user',
    content: 'Which page?',
    source: 'agent_001',
    caused_by: 'm3',
  },
  { message_id: 'm8', agent_id: 'agent_002', role: 'assistant', content: 'Page ninety.', caused_by: 'm7' },
  {
    message_id: 'm9',
    agent_id: 'agent_003',
    role: 'user',
    content: '[Mona]: Page ninety.',
    source: 'agent_002',
    utterance_ref: 'm8',
    caused_by: 'm8',
  },
  { message_id: 'm10', agent_id: 'agent_003', role: 'user', content: 'Ten minutes left.', source: 'system' },
  {
    message_id: 'm11',
    agent_id: 'agent_001',
    role: 'tool',
    tool_call_id: 'k2',
    content: 'Page ninety.',
    utterance_ref: 'm8',
    caused_by: 'm6',
  },
];
