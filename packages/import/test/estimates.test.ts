import { openDispatchStore } from '@hansard/dispatch';
import type { PriceTable } from '@hansard/facts';
import { standardPrices } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const taskDir = 'lab/tasks/house';
const usage = { input_tokens: 1_000_000, output_tokens: 0 };

const answer = (number: number, model: string) => ({
  type: 'assistant',
  uuid: `00000000-0000-4000-8000-00000000000${number}`,
  parentUuid: number === 1 ? null : `00000000-0000-4000-8000-00000000000${number - 1}`,
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  timestamp: `2026-01-01T00:00:0${number}.000Z`,
  message: {
    id: `msg_${number}`,
    role: 'assistant',
    model,
    content: [{ type: 'text', text: `Answer ${number}` }],
    usage,
  },
});

const models = ['claude-opus-4-5', 'claude-haiku-4-5', 'claude-fable-7', 'claude-haiku-4-5'];
const records = models.map((model, at) => answer(at + 1, model));

const init = { type: 'system', subtype: 'init', session_id: 'session-1', model: 'm', uuid: 'init-1' };

async function imported(logs: readonly (readonly object[])[], prices?: PriceTable | false) {
  using folder = new LogFolder();
  const store = openDispatchStore(createMemoryStore());
  for (const log of logs) {
    const [item] = await importAll(store, [folder.put('s.jsonl', lines(...log))], { task: taskDir, prices });
    expect(item?.kind).toBe('imported');
  }
  const [envelope] = await store.getDispatchEnvelopes(taskDir);
  return envelope;
}

describe('an imported transcript, which states no cost', () => {
  it('gets an estimate by model, with the table that it comes from', async () => {
    const envelope = await imported([records]);
    const { name, version, date } = standardPrices;
    expect(envelope).toMatchObject({ cost: null, prices: { name, version, date } });
    expect(envelope?.models?.slice(0, 3)).toEqual([
      {
        model: 'claude-opus-4-5',
        calls: 1,
        inputTokens: 1e6,
        outputTokens: 0,
        estimatedUsd: 5,
        pricedAs: 'anthropic/claude-opus-4-5',
      },
      expect.objectContaining({
        model: 'claude-haiku-4-5',
        estimatedUsd: 1,
        pricedAs: 'anthropic/claude-haiku-4-5',
      }),
      { model: 'claude-fable-7', calls: 1, inputTokens: 1e6, outputTokens: 0 },
    ]);
  });

  it('gets none when it is not wanted', async () => {
    const envelope = await imported([records], false);
    expect(envelope).toMatchObject({ cost: null, prices: null });
    for (const model of envelope?.models ?? []) expect(model).not.toHaveProperty('estimatedUsd');
  });

  it('keeps the usage of the longest copy, in whatever order copies are imported', async () => {
    const shorter = records.slice(0, 2);
    const expected = await imported([records]);
    expect((await imported([records, shorter]))?.models).toEqual(expected?.models);
    expect((await imported([shorter, records]))?.models).toEqual(expected?.models);
  });

  it('has the prices of the table that a program brings', async () => {
    const prices: PriceTable = {
      name: 'ours',
      version: '1',
      date: '2026-01-01',
      priceOf: ({ model }) => ({ usd: 2, model }),
    };
    const envelope = await imported([records], prices);
    expect(envelope?.prices).toEqual({ name: 'ours', version: '1', date: '2026-01-01' });
    expect(envelope?.models?.map(({ estimatedUsd = 0, calls }) => estimatedUsd / calls)).toEqual([2, 2, 2]);
  });
});

describe('a transcript with more tokens than a number can count', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const log = records.map((record) => ({
    ...record,
    message: {
      ...record.message,
      stop_reason: 'end_turn',
      usage: { input_tokens: most - 1, output_tokens: 1 },
    },
  }));

  const asMessage = ({ sessionId, ...message }: (typeof log)[number]) => ({
    ...message,
    session_id: sessionId,
  });

  it.each(['claude-transcript', 'claude-stream'])(
    'is imported, and the report names its sums: %s',
    async (as) => {
      using folder = new LogFolder();
      const store = openDispatchStore(createMemoryStore());
      const path = folder.put(
        's.jsonl',
        lines(...(as === 'claude-stream' ? [init, ...log.map(asMessage)] : log)),
      );
      const [item] = await importAll(store, [path], { task: taskDir, as });
      expect(item).toMatchObject({ kind: 'imported', counts: { total_too_large: 1 } });
      const found = item?.kind === 'imported' ? item.diagnostics : [];
      expect(found.filter(({ code }) => code === 'total_too_large')).toEqual([
        { code: 'total_too_large', message: expect.stringContaining('more inputTokens than') },
      ]);
      const [envelope] = await store.getDispatchEnvelopes(taskDir);
      expect(envelope?.usage).toEqual({ inputTokens: most, outputTokens: 4 });
      const events = await store.getDispatchEvents(taskDir, envelope?.dispatchId ?? '');
      const calls = events.filter(({ type }) => type === 'agent:inference');
      expect(calls.map(({ data }) => data.usage)).toEqual(
        log.map(() => ({ inputTokens: most - 1, outputTokens: 1 })),
      );
    },
  );
});
