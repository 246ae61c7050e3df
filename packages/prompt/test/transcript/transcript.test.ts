import {
  type CapturedEvent,
  eventErrors,
  isEvent,
  type JsonValue,
  type NewEvent,
  toTimestamp,
} from '@hansard/events';
import { anyEvent, event, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { putTogether, type TranscriptMessage, type TranscriptToolCall, takeApart } from '../../src/index.ts';

function recorded(events: readonly NewEvent[]): CapturedEvent[] {
  return events.map((event, index) => ({
    id: `minted-${index}`,
    timestamp: toTimestamp(1_772_357_400_000),
    ...event,
  }));
}

function roundTrip(message: TranscriptMessage) {
  const events = recorded(takeApart(message, { id: 'm1', agentId: 'agent_001' }));
  const entries = putTogether(events);
  expect(entries).toHaveLength(1);
  return entries[0]?.message;
}

describe('takeApart', () => {
  it('makes an event of each block of an answer, with the links on the first', () => {
    const events = takeApart(
      {
        role: 'assistant',
        content: 'Let me look at the menu.',
        thinking: { text: 'Tea or coffee?', signature: 'sig' },
        toolCalls: [
          { toolCallId: 'c1', tool: 'read', input: { page: 1 } },
          { toolCallId: 'c2', tool: 'read', input: { page: 2 } },
        ],
      },
      { id: 'm7', agentId: 'agent_002', timestamp: '2026-03-01T09:30:00.000Z', cause: ['m5', 'm6'] },
    );
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      ['m7', 'agent:thinking'],
      ['m7.1', 'agent:text'],
      ['m7.2', 'agent:tool_call'],
      ['m7.3', 'agent:tool_call'],
    ]);
    expect(new Set(events.map(({ messageId }) => messageId))).toEqual(new Set(['m7']));
    expect(events.map(({ cause }) => cause)).toEqual([['m5', 'm6'], undefined, undefined, undefined]);
    expect(events.every((event) => isEvent(event))).toBe(true);
  });

  it('gives the dispatched agent no agentId', () => {
    const [event] = takeApart({ role: 'user', content: 'Good morning' }, { id: 'm1', agentId: '' });
    expect(event).not.toHaveProperty('agentId');
    expect(putTogether(recorded(event === undefined ? [] : [event]))[0]?.agentId).toBe('');
  });

  it.each<TranscriptMessage>([
    { role: 'tool', content: 'an answer to nothing' },
    { role: 'user', content: null },
    { role: 'system', content: null },
    { role: 'user', content: 'Hi', thinking: { text: 'hm' } },
    { role: 'tool', content: 'Hi', toolCallId: 'c1', toolCalls: [] },
  ])('refuses an invalid message: %o', (message) => {
    expect(() => takeApart(message, { id: 'm1', agentId: 'a' })).toThrow(TypeError);
  });
});

describe('putTogether', () => {
  it.each<[string, TranscriptMessage]>([
    ['an empty answer', { role: 'assistant', content: '' }],
    ['an answer without anything', { role: 'assistant', content: null }],
    ['an answer of thinking only', { role: 'assistant', content: null, thinking: { text: '' } }],
    ['a result without content', { role: 'tool', content: null, toolCallId: 'c1', tool: 'read' }],
    ['a result of a tool whose name is not known', { role: 'tool', content: 'x', toolCallId: 'c1' }],
    ['a result of a tool named ?', { role: 'tool', content: 'x', toolCallId: 'c1', tool: '?' }],
    ['text that looks like an event', { role: 'user', content: '{"type":"agent:text"}\n\u2028\ud800' }],
  ])('returns %s as it was', (_, message) => {
    expect(roundTrip(message)).toEqual(message);
  });

  it('returns any transcript as it was, including when the blocks of several agents are mixed', () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = randomFrom(seed);
      const spoken = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, index) => {
        const agentId = `agent_00${1 + Math.floor(random() * 3)}`;
        return { id: `m${index}`, agentId, message: anyMessage(random) };
      });
      const apart = spoken.map(({ message, ...fields }) => recorded(takeApart(message, fields)));
      const entries = putTogether(shuffledTogether(apart, random));
      const inOrder = [...entries].sort((one, other) => numberOf(one.messageId) - numberOf(other.messageId));
      expect(
        inOrder.map(({ messageId: id, agentId, message }) => ({ id, agentId, message })),
        `seed ${seed}`,
      ).toEqual(spoken);
    }
  });

  it('orders messages by their first blocks and keeps their links', () => {
    const entries = putTogether([
      event('agent:thinking', { text: 'Shall I?' }, { agentId: 'jill', messageId: 'm1', cause: 'm0' }),
      event(
        'user:message',
        { text: '[Ben]: Well?', source: { kind: 'agent', agentId: 'ben' } },
        {
          id: 'm2',
          agentId: 'ann',
          substance: 'm9',
          via: 'hook-1',
        },
      ),
      event('agent:text', { text: 'Yes.' }, { agentId: 'jill', messageId: 'm1' }),
    ]);
    expect(entries).toMatchObject([
      { messageId: 'm1', agentId: 'jill', cause: ['m0'], message: { content: 'Yes.' } },
      { messageId: 'm2', agentId: 'ann', substance: 'm9', via: 'hook-1' },
    ]);
    expect(entries[0]?.events).toHaveLength(2);
  });

  it('keeps two results of one message as two messages', () => {
    const data = { tool: 'read', status: 'completed', metadata: {}, output: 'x' } as const;
    const entries = putTogether([
      event('agent:tool_result', { ...data, toolCallId: 'c1' }, { messageId: 'm1' }),
      event('agent:tool_result', { ...data, toolCallId: 'c2' }, { messageId: 'm1' }),
    ]);
    expect(entries.map(({ message }) => message.toolCallId)).toEqual(['c1', 'c2']);
  });

  it('ignores events that are not part of a transcript', () => {
    const events = [
      event('agent:created', { name: 'Ann' }, { agentId: 'ann' }),
      event('agent:piece_of_text', { text: 'Meet at the fountain.' }),
      event('agent:output', { parts: [] }),
      anyEvent('game:vote', { for: 'ann' }),
    ];
    expect(putTogether(events)).toEqual([]);
  });

  it('throws for an unreadable part of a transcript instead of leaving it out', () => {
    const newer = anyEvent('agent:text', { spans: ['Hi'] }, { id: 'e1', v: 2 });
    expect(() => putTogether([newer])).toThrow(
      expect.toSatisfy((error) => eventErrors.is(error, 'EVENT_INVALID') && error.message.includes('e1')),
    );
  });
});

const words = ['', 'tea', ' ', '\n', '☕️', 'żółw', '\u0000', '"}', '\u202e', '\ud83d', '__proto__', 'Ἀθῆναι'];

function anyMessage(random: () => number): TranscriptMessage {
  const pick = <T>(...options: readonly (() => T)[]): T => {
    const option = options[Math.floor(random() * options.length)] ?? options[0];
    if (option === undefined) throw new TypeError('nothing to pick from');
    return option();
  };
  const maybe = <T extends object>(make: () => T): T | Record<string, never> =>
    random() < 0.5 ? make() : {};
  const text = () =>
    Array.from({ length: Math.floor(random() * 4) }, () => words[Math.floor(random() * words.length)]).join(
      '',
    );
  const name = () => `t${Math.floor(random() * 5)}`;
  const value = (depth: number): JsonValue =>
    pick<JsonValue>(
      text,
      () => Math.floor(random() * 1e6) / 8,
      () => null,
      () => random() < 0.5,
      () => (depth > 3 ? [] : [value(depth + 1), value(depth + 1)]),
      () => (depth > 3 ? {} : { [text()]: value(depth + 1), b: value(depth + 1) }),
    );
  const call = (): TranscriptToolCall => ({ toolCallId: name(), tool: name(), input: value(0) });

  return pick<TranscriptMessage>(
    () => ({ role: 'system', content: text() }),
    () => ({
      role: 'user',
      content: text(),
      ...maybe(() => ({
        source: pick<NonNullable<TranscriptMessage['source']>>(
          () => ({ kind: 'system' }),
          () => ({ kind: 'user', dispatchId: 'd1' }),
          () => ({ kind: 'agent', agentId: name() }),
        ),
      })),
    }),
    () => ({
      role: 'assistant',
      content: random() < 0.3 ? null : text(),
      ...maybe(() => ({ thinking: { text: text(), ...maybe(() => ({ signature: text() })) } })),
      ...maybe(() => ({ toolCalls: Array.from({ length: 1 + Math.floor(random() * 3) }, call) })),
    }),
    () => ({
      role: 'tool',
      content: random() < 0.2 ? null : text(),
      toolCallId: name(),
      ...maybe(() => ({ tool: name() })),
      ...maybe(() => ({ isError: true })),
    }),
  );
}

/** Merges lists at random. Each keeps its order. */
function shuffledTogether<T>(lists: readonly (readonly T[])[], random: () => number): T[] {
  const left = lists.map((list) => [...list]);
  const mixed: T[] = [];
  for (let open = left; open.length > 0; open = open.filter((list) => list.length > 0)) {
    const next = open[Math.floor(random() * open.length)]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
}

function numberOf(messageId: string): number {
  return Number(messageId.slice(1));
}
