import { describe, expect, it } from 'vitest';
import { newOutput, PrintedForm, parseEvent, reviveSnapshot } from '../src/index.ts';
import { outputPartSchema } from '../src/types/content-part.ts';

const recorded = (values: readonly unknown[]) => {
  const event = { id: 'e1', timestamp: '2026-03-01T09:30:00.000Z', ...newOutput(values) };
  const { parts } = parseEvent(JSON.parse(JSON.stringify(event))).data;
  return (parts as unknown[]).map((part) => outputPartSchema.parse(part));
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function no(): never {
  throw new Error('no');
}

describe('newOutput', () => {
  it('is an event with a part for each value, in order', () => {
    const image = { mediaType: 'image/png', bytes: new Uint8Array([1, 2]) };
    const values = ['text', { a: 1 }, new Set([1]), image, () => {}];
    const parts = recorded(values);
    expect(parts.map(({ kind }) => kind)).toEqual(['text', 'json', 'value', 'image', 'repr']);
    expect(parts.map(reviveSnapshot)).toEqual([...values.slice(0, -1), expect.any(PrintedForm)]);
  });

  it('has the current values, even if they change before it is recorded', () => {
    const rows = [1];
    const bytes = new Uint8Array([1]);
    const event = newOutput([rows, new Map([['rows', rows]]), { mediaType: 'image/png', bytes }]);
    rows.push(2);
    bytes.fill(9);
    const parts = event.data.parts as unknown[];
    expect(parts.map((part) => reviveSnapshot(outputPartSchema.parse(part)))).toEqual([
      [1],
      new Map([['rows', [1]]]),
      { mediaType: 'image/png', bytes: new Uint8Array([1]) },
    ]);
  });

  it.each([
    ['that was revoked', revoked({})],
    ['of a function that was revoked', revoked(() => {})],
    ['of a list that was revoked', revoked([])],
    ['whose prototype can not be read', new Proxy({}, { getPrototypeOf: no })],
    ['beneath an object', Object.create(revoked({}))],
  ])('keeps the printed form of a proxy %s, and the values beside it', (_, value) => {
    const parts = recorded(['before', value, [1]]);
    expect(parts.map(({ kind }) => kind)).toEqual(['text', 'repr', 'json']);
    expect(parts.map(reviveSnapshot)).toEqual(['before', expect.any(PrintedForm), [1]]);
  });

  it('links to its agent and its cause', () => {
    expect(newOutput([], { id: 'e1', agentId: 'agent_001', cause: 'call' })).toEqual({
      id: 'e1',
      type: 'agent:output',
      agentId: 'agent_001',
      cause: 'call',
      data: { parts: [] },
    });
  });
});
