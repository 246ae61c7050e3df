import { describe, expect, it } from 'vitest';
import { parseEnvelope, parseEnvelopeUpdates, parseTaskRecord } from '../src/index.ts';

const envelope = {
  dispatchId: '01JM0000000000000000000000',
  taskSlug: 'route-models',
  role: 'ts-dev',
  title: null,
  model: null,
  cwd: null,
  startedAt: '2026-03-01T09:30:00.000Z',
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
  fidelity: 'narrative',
  schemaVersion: 1,
};

describe('parseEnvelope', () => {
  it('returns a valid envelope unchanged, with keys of newer versions', () => {
    const newer = { ...envelope, mood: 'calm' };
    expect(parseEnvelope(newer)).toBe(newer);
  });

  it('names every path that is wrong, with its value', () => {
    const wrong = { ...envelope, status: 'done', cost: -1, role: undefined };
    expect(() => parseEnvelope(wrong)).toThrow(/role is missing.*status is "done".*cost is -1/s);
    expect(() => parseEnvelope(wrong)).toThrow(expect.objectContaining({ code: 'EVENT_ENVELOPE_INVALID' }));
  });
});

describe('parseEnvelopeUpdates', () => {
  it('accepts some fields, including null values', () => {
    expect(parseEnvelopeUpdates({ status: 'completed', cost: null })).toEqual({
      status: 'completed',
      cost: null,
    });
  });

  it.each(['dispatchId', 'taskSlug', 'schemaVersion'])('never changes %s', (key) => {
    expect(() => parseEnvelopeUpdates({ [key]: envelope[key as keyof typeof envelope] })).toThrow(key);
  });
});

describe('parseTaskRecord', () => {
  it('accepts the fields of D10 and names missing ones', () => {
    const task = { slug: 'a', name: 'A', project: 'p', status: 'open', created: '2026-03-01T09:30:00.000Z' };
    expect(parseTaskRecord(task)).toBe(task);
    expect(() => parseTaskRecord({ ...task, project: undefined })).toThrow('project is missing');
  });
});
