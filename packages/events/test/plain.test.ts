import { eventDataSchemas, isEvent, type KnownEventType } from '@hansard/events';
import { isDataOf, isPlainEnvelope, isPlainEvent, isPlainTask } from '@hansard/events/plain';
import { sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { envelopeSchema, taskRecordSchema } from '../src/types/envelope.ts';

const oddValues = [
  undefined,
  null,
  '',
  'x',
  'with space',
  'completed',
  'text',
  'ä'.repeat(129),
  0,
  -1,
  1.5,
  2 ** 60,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  true,
  [],
  ['x'],
  [1],
  [undefined],
  {},
  { x: 1 },
  { kind: 'text', text: 'x' },
  [{ kind: 'json', json: null }],
  [{ kind: 'json' }],
  [{ kind: 'nothing' }],
  new Date(0),
  new Map(),
  Object.create({ x: 1 }),
  () => 1,
  1n,
];

/** Every copy of a value in which one part at any depth is replaced, removed or added. */
function* mutations(value: unknown): Generator<unknown> {
  yield* oddValues;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    for (const odd of mutations(item)) yield changed(value, key, odd);
    yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
  }
  yield changed(value, 'newer', 1);
  yield changed(value, 'newer', Number.NaN);
}

function changed(value: object, key: string, item: unknown): unknown {
  if (!Array.isArray(value)) return { ...value, [key]: item };
  const copy: unknown[] = [...value];
  copy[Number(key) || copy.length] = item;
  return copy;
}

const samples = Object.entries(sampleEvents) as [KnownEventType, (typeof sampleEvents)[KnownEventType]][];

describe('reading without schemas', () => {
  it.each(samples)('accepts and refuses the data of %s like its schema', (type, { data }) => {
    expect(isDataOf(type, data)).toBe(true);
    for (const odd of mutations(data))
      expect([odd, isDataOf(type, odd)]).toEqual([odd, eventDataSchemas[type].safeParse(odd).success]);
  });

  it.each(samples)('accepts and refuses %s events like the schemas', (_, event) => {
    expect(isPlainEvent(event)).toBe(true);
    const links = { ...event, v: 2, agentId: 'a', messageId: 'm', cause: ['c', 'd'], via: 'h' };
    const all = [event, links, { ...event, substance: 's' }, { ...links, substance: 's' }];
    for (const one of all)
      for (const odd of mutations(one)) expect([odd, isPlainEvent(odd)]).toEqual([odd, isEvent(odd)]);
  });

  it.each(['game:vote', 'toString:x', 'delta:text', 'constructor', 'Agent:text'])(
    'accepts and refuses events of the type %s like the schemas',
    (type) => {
      for (const data of [{}, { any: [1] }, [], null, 'x', { deep: { not: Number.NaN } }, new Map()]) {
        const event = { ...sampleEvents['agent:text'], type, data };
        expect([data, isPlainEvent(event)]).toEqual([data, isEvent(event)]);
      }
    },
  );

  it('accepts and refuses envelopes and task records like the schemas', () => {
    const time = '2026-03-01T09:30:00.000Z';
    const started = {
      dispatchId: 'd1',
      taskSlug: 'cafe',
      role: 'lead',
      title: null,
      model: null,
      cwd: null,
      startedAt: time,
      completedAt: null,
      status: 'running',
      ended: null,
      cost: null,
      usage: null,
      models: null,
      periods: null,
      prices: null,
      openCalls: null,
      folded: null,
      source: null,
      structuredResult: null,
      parentDispatchId: null,
      botId: null,
      fidelity: 'full',
      schemaVersion: 1,
    };
    const ended = {
      ...started,
      title: 'Meet',
      model: 'model-1',
      cwd: '/work',
      completedAt: time,
      cost: 0.5,
      usage: { inputTokens: 1, outputTokens: 2, turns: 3 },
      structuredResult: { ok: [true] },
      parentDispatchId: 'd0',
      botId: 'bot-7',
    };
    const quiet = {
      ...started,
      status: 'crashed',
      ended: { because: 'quiet', since: time },
      openCalls: [
        {
          id: 'm1:inference',
          agentId: 'a1',
          messageId: 'm1',
          timestamp: time,
          usage: { model: 'model-1', calls: 1, inputTokens: 1, outputTokens: 2 },
          prices: { name: 'a table', version: '1', date: '2026-03-01' },
        },
      ],
      source: { format: 'a-log', files: [], ifQuiet: { status: 'crashed', since: time, isRecorded: true } },
    };
    for (const envelope of [started, ended, quiet]) {
      expect(isPlainEnvelope(envelope)).toBe(true);
      for (const odd of mutations(envelope))
        expect([odd, isPlainEnvelope(odd)]).toEqual([odd, envelopeSchema.safeParse(odd).success]);
    }
    const task = { slug: 'cafe', name: 'Cafe', project: 'lab', status: 'open', created: time };
    for (const odd of [task, ...mutations(task)])
      expect([odd, isPlainTask(odd)]).toEqual([odd, taskRecordSchema.safeParse(odd).success]);
  });
});
