import type { CapturedEvent, JsonObject } from '@hansard/events';
import { MessageNumbers, numberMessages } from '@hansard/facts';
import { describe, expect, it } from 'vitest';

const timestamp = '2026-03-01T09:30:00.000Z';
/** An id as Hansard mints it. */
const own = (number: number) => `01JM8Z7T3V${String(number).padStart(16, '0')}`;

function event(
  id: string,
  type: string,
  rest: Partial<CapturedEvent> & { data?: JsonObject } = {},
): CapturedEvent {
  return { id, type: type as CapturedEvent['type'], timestamp, agentId: 'agent_root', data: {}, ...rest };
}

const imported = [
  event('msg_001', 'agent:created'),
  event('msg_019', 'user:message', { messageId: 'msg_019', data: { text: 'Hello' } }),
  event('msg_020', 'agent:tool_call', { messageId: 'msg_020' }),
  event('msg_020.1', 'agent:tool_call', { messageId: 'msg_020' }),
];
const idsOf = (events: readonly CapturedEvent[]) => events.map(({ id }) => id);

describe('the message numbers of a session log that was imported and continued', () => {
  const continued = [
    ...imported,
    event(own(1), 'agent:tool_result', { messageId: own(1), substance: 'msg_019', data: { output: own(2) } }),
    event(own(2), 'agent:thinking', { messageId: own(2), data: { text: own(1) } }),
    event(`${own(2)}.1`, 'agent:text', { messageId: own(2) }),
    event(`${own(2)}.2`, 'agent:tool_call', { messageId: own(2) }),
    event(own(3), 'agent:inference', { messageId: own(2), data: { context: { through: own(1) } } }),
    event(own(4), 'agent:created', { agentId: 'agent_002', cause: [`${own(2)}.2`, own(1)] }),
    event(own(5), 'agent:thinking', { messageId: own(5) }),
    event(own(6), 'agent:output', { messageId: own(6), data: { parts: [] } }),
    event(own(7), 'harness:hook_decision', { data: { subject: `${own(2)}.1` } }),
    event(own(8), 'agent:piece_of_text', { via: own(7) }),
    event(own(9), 'session:complete'),
  ];

  it('continue where its own stop, for each message, agent and piece of text', () => {
    expect(idsOf(numberMessages(continued)).slice(imported.length)).toEqual([
      'msg_021',
      'msg_022:thinking',
      'msg_022',
      'msg_022.1',
      own(3),
      'msg_023',
      own(5),
      'msg_024',
      own(7),
      'msg_025',
      own(9),
    ]);
  });

  it('are in every reference, and in no content', () => {
    const [result, thought, , , inference, created, , , decision, piece] = numberMessages(continued).slice(
      imported.length,
    );
    expect(result).toMatchObject({ messageId: 'msg_021', substance: 'msg_019', data: { output: own(2) } });
    expect(thought).toMatchObject({ messageId: 'msg_022', data: { text: own(1) } });
    expect(inference).toMatchObject({ messageId: 'msg_022', data: { context: { through: 'msg_021' } } });
    expect(created?.cause).toEqual(['msg_022.1', 'msg_021']);
    expect(decision?.data).toEqual({ subject: 'msg_022' });
    expect(piece?.via).toBe(own(7));
  });

  it('stay the same when the log grows, and when it is numbered again', () => {
    const all = idsOf(numberMessages(continued));
    for (let length = imported.length; length <= continued.length; length += 1)
      // A thought alone gets its number with its message.
      if (continued[length - 1]?.type !== 'agent:thinking')
        expect(idsOf(numberMessages(continued.slice(0, length)))).toEqual(all.slice(0, length));
    expect(numberMessages(numberMessages(continued))).toEqual(numberMessages(continued));
  });

  it('leave the events unchanged', () => {
    const before = structuredClone(continued);
    numberMessages(continued);
    expect(continued).toEqual(before);
  });
});

describe('a log without message numbers, or without events of Hansard,', () => {
  it('keeps its ids', () => {
    const native = [event(own(1), 'agent:created'), event(own(2), 'user:message', { messageId: own(2) })];
    expect(numberMessages(native)).toBe(native);
    expect(numberMessages(imported)).toBe(imported);
    const others = [event('m1', 'agent:created'), event('message_7', 'agent:text')];
    expect(numberMessages(others)).toBe(others);
  });

  it('counts over the largest number, whatever its place, and keeps ids of others', () => {
    const mixed = [
      event('msg_1200', 'agent:created'),
      event('msg_003', 'agent:text'),
      event('x1', 'agent:text'),
      event(own(1), 'agent:text'),
    ];
    expect(idsOf(numberMessages(mixed))).toEqual(['msg_1200', 'msg_003', 'x1', 'msg_1201']);
  });
});

describe('the message numbers of an export', () => {
  const numbered = (events: readonly CapturedEvent[]) => {
    const numbers = new MessageNumbers();
    return events.map((event) => numbers.add(event));
  };

  it('begin with msg_001 in a log that Hansard recorded, for what a session log has a record of', () => {
    const native = [
      event(own(1), 'agent:created'),
      event(own(2), 'agent:thinking', { messageId: own(2) }),
      event(`${own(2)}.1`, 'agent:text', { messageId: own(2) }),
      event(own(3), 'agent:inference', { messageId: own(2) }),
      event(own(4), 'user:message', { messageId: own(4), substance: `${own(2)}.1` }),
      event(own(5), 'agent:tool_result', { messageId: own(5), cause: own(2) }),
    ];
    const events = numbered(native);
    expect(idsOf(events)).toEqual(['msg_001', own(2), 'msg_002', own(3), 'msg_003', 'msg_004']);
    expect([events[4]?.substance, events[5]?.cause]).toEqual(['msg_002', 'msg_002']);
  });

  it('are those of the whole log, where an imported log was continued', () => {
    const continued = [
      ...imported,
      event(own(1), 'agent:text', { messageId: own(1) }),
      event(own(2), 'user:message', { messageId: own(2), substance: own(1) }),
    ];
    expect(numbered(continued)).toEqual(numberMessages(continued));
  });

  it('are given once: an imported message whose number was given gets the next one', () => {
    const events = numbered([
      ...imported,
      event(own(1), 'agent:text', { messageId: own(1) }),
      event('msg_021', 'agent:tool_call', { messageId: 'msg_021' }),
      event('msg_021.1', 'agent:tool_call', { messageId: 'msg_021' }),
      event('msg_022', 'user:message', { messageId: 'msg_022', cause: 'msg_021.1' }),
    ]);
    expect(idsOf(events).slice(imported.length)).toEqual(['msg_021', 'msg_022', 'msg_022.1', 'msg_023']);
    expect(events.at(-1)?.cause).toBe('msg_022.1');
  });

  it('are not read from the ids of other products', () => {
    const ids = numbered([event('msg_01AbCd', 'agent:text'), event(own(1), 'user:message')]).map(
      ({ id }) => id,
    );
    expect(ids).toEqual(['msg_01AbCd', 'msg_001']);
  });
});
