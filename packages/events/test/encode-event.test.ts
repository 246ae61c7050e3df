import { sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../src/index.ts';

describe('encodeEvent', () => {
  it('round-trips every known type', () => {
    for (const event of Object.values(sampleEvents)) expect(JSON.parse(encodeEvent(event))).toEqual(event);
  });

  it('puts the keys in their order with data last, keys of newer versions before it', () => {
    const line = encodeEvent({
      data: { text: 'x' },
      newer: 1,
      retracts: ['r1'],
      follows: 'f1',
      via: 'h1',
      cause: ['a', 'b'],
      timestamp: '2026-03-01T09:30:00.000Z',
      agentId: 'a1',
      type: 'agent:text',
      id: 'e1',
    } as never);
    expect(line).toBe(
      '{"id":"e1","type":"agent:text","timestamp":"2026-03-01T09:30:00.000Z","agentId":"a1","cause":["a","b"],"via":"h1","follows":"f1","retracts":["r1"],"newer":1,"data":{"text":"x"}}',
    );
  });

  it('stays on one line for any text', () => {
    const text = `a\nb\r\u2028\u2029\u0000\u{1f600}\ud83d`;
    const line = encodeEvent({
      id: 'e',
      type: 'agent:text',
      timestamp: '2026-03-01T09:30:00.000Z',
      data: { text },
    });
    expect(line).not.toMatch(/[\n\r]/);
    expect(Buffer.from(line).toString()).toBe(line);
    expect(JSON.parse(line).data.text).toBe(text);
  });

  it('keeps a key of a newer version that is named __proto__', () => {
    const event = JSON.parse(
      '{"__proto__":1,"id":"e","type":"game:odd","timestamp":"2026-03-01T09:30:00.000Z","data":{}}',
    );
    expect(encodeEvent(event)).toBe(
      '{"id":"e","type":"game:odd","timestamp":"2026-03-01T09:30:00.000Z","__proto__":1,"data":{}}',
    );
  });

  it('keeps an own key named __proto__ in data', () => {
    const data = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    const line = encodeEvent({ id: 'e', type: 'game:odd', timestamp: '2026-03-01T09:30:00.000Z', data });
    expect(line).toContain('{"__proto__":{"a":1},"constructor":2}');
  });
});
