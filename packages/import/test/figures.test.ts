import { openDispatchStore } from '@hansard/dispatch';
import { type DispatchEnvelope, newEvent } from '@hansard/events';
import type { PriceTable } from '@hansard/facts';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const taskDir = 'lab/tasks/house';
const options = { task: taskDir };
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const record = (number: number, inputTokens: number) => ({
  type: 'assistant',
  uuid: uuid(number),
  parentUuid: number === 1 ? null : uuid(number - 1),
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  timestamp: `2026-01-01T00:00:0${number}.000Z`,
  message: {
    id: `msg_${number}`,
    role: 'assistant',
    model: 'claude-opus-4-5',
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: `Answer ${number}` }],
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  },
});

const table = (name: string, usd: number): PriceTable => ({
  name,
  version: '1',
  date: '2026-01-01',
  priceOf: ({ model }) => ({ usd, model }),
});

const figuresOf = (envelope: DispatchEnvelope | undefined) => {
  const [used] = envelope?.models ?? [];
  return { input: envelope?.usage?.inputTokens, calls: used?.calls, estimated: used?.estimatedUsd };
};

async function open() {
  const folder = new LogFolder();
  const store = openDispatchStore(createMemoryStore());
  const put = (...records: readonly object[]) => folder.put('s.jsonl', lines(...records));
  const envelope = async () => (await store.getDispatchEnvelopes(taskDir))[0];
  return { store, put, envelope, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe('the figures of an import', () => {
  it('count a call once whose record was changed in the file, so that the log has it twice', async () => {
    using log = await open();
    await importAll(log.store, [log.put(record(1, 100), record(2, 10))], options);
    const changed = log.put(record(1, 7_000), record(2, 10));
    expect(await importAll(log.store, [changed], options)).toMatchObject([{ rewrittenCount: 1 }]);
    const envelope = await log.envelope();
    const events = await log.store.getDispatchEvents(taskDir, envelope?.dispatchId ?? '');
    expect(events.filter(({ type }) => type === 'agent:inference')).toHaveLength(3);
    expect(figuresOf(envelope)).toMatchObject({ input: 110, calls: 2 });
    await importAll(log.store, [changed], { ...options, reread: true });
    expect(figuresOf(await log.envelope())).toMatchObject({ input: 110, calls: 2 });
  });

  it('stay, with estimates, when a program appends to the import and ends it, and its calls are added', async () => {
    using log = await open();
    const prices = table('ours', 2);
    await importAll(log.store, [log.put(record(1, 100))], { ...options, prices });
    const imported = await log.envelope();
    const dispatch = await log.store.openDispatch(
      { taskDir, dispatchId: imported?.dispatchId ?? '' },
      { write: true },
    );
    const usage = { inputTokens: 5, outputTokens: 1 };
    await dispatch.append(newEvent('agent:inference', { model: 'claude-opus-4-5', usage, costUsd: 1 }));
    const ended = await dispatch.end({ status: 'completed' });
    expect(figuresOf(ended)).toEqual({ input: 105, calls: 2, estimated: 2 });
    expect(ended).toMatchObject({ cost: 1, prices: { name: 'ours' } });
  });

  it('are estimated anew, all of them, when the log has grown and another table is given', async () => {
    using log = await open();
    await importAll(log.store, [log.put(record(1, 100))], { ...options, prices: table('ours', 2) });
    const grown = log.put(record(1, 100), record(2, 10));
    await importAll(log.store, [grown], { ...options, prices: table('theirs', 3) });
    const envelope = await log.envelope();
    expect(figuresOf(envelope)).toEqual({ input: 110, calls: 2, estimated: 6 });
    expect(envelope?.prices?.name).toBe('theirs');
    const more = log.put(record(1, 100), record(2, 10), record(3, 1));
    await importAll(log.store, [more], { ...options, prices: false });
    expect(figuresOf(await log.envelope())).toEqual({ input: 111, calls: 3, estimated: undefined });
    expect((await log.envelope())?.prices).toBeNull();
  });
});
