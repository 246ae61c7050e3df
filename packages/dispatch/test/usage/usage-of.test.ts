import { type DispatchStore, openDispatchStore, type UsageKey, usageKeys, usageOf } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { UsageFigures } from '@hansard/facts';
import { storeErrors } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const tasks = ['lab/tasks/a', 'lab/tasks/b', 'shop/tasks/c', 'deep/er/place/d'];
const start = Date.UTC(2026, 1, 26);

/** What was used, as plain additions of what was recorded. */
interface Truth {
  readonly taskDir: string;
  readonly at: number;
  readonly model: string;
  readonly agent: string;
  readonly input: number;
}

/** A store with random calls of models, at times over three weeks, and each call. */
async function randomStore(random: () => number): Promise<{ store: DispatchStore; calls: Truth[] }> {
  const store = openDispatchStore(createMemoryStore());
  const calls: Truth[] = [];
  for (let made = 0; made < 12; made += 1) {
    const taskDir = tasks[Math.floor(random() * tasks.length)] as string;
    let at = start + Math.floor(random() * 20 * 86_400_000);
    const startedAt = new Date(at).toISOString();
    const dispatch = await store.beginDispatch(taskDir, { role: `role-${made % 3}`, startedAt });
    for (let call = 0; call < 1 + random() * 6; call += 1) {
      at += Math.floor(random() * 7_200_000);
      const model = `model-${Math.floor(random() * 3)}`;
      const input = Math.floor(random() * 1_000);
      const data = { model, usage: { inputTokens: input, outputTokens: 1 }, costUsd: 0.25 };
      await dispatch.append(newEvent('agent:inference', data, { timestamp: new Date(at).toISOString() }));
      calls.push({ taskDir, at, model, agent: `role-${made % 3}`, input });
    }
    await dispatch.end({ status: 'completed' });
  }
  return { store, calls };
}

/** The key of a call, worked out without the code of the package. */
const truthOf: Partial<Record<UsageKey, (call: Truth) => string>> = {
  day: ({ at }) => new Date(at).toISOString().slice(0, 10),
  month: ({ at }) => new Date(at).toISOString().slice(0, 7),
  task: ({ taskDir }) => taskDir,
  project: ({ taskDir }) => taskDir.replace(/\/tasks\/\w+$|\/\w+$/, ''),
  model: ({ model }) => model,
  agent: ({ agent }) => agent,
};

function tokensBy(calls: readonly Truth[], keys: readonly UsageKey[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const call of calls) {
    const key = keys.map((one) => truthOf[one]?.(call)).join(' ');
    sums[key] = (sums[key] ?? 0) + call.input;
  }
  return sums;
}

const summed = ['modelCalls', 'inputTokens', 'outputTokens', 'costUsd'] as const;

function sumOf(rows: readonly UsageFigures[]): Record<string, number> {
  return Object.fromEntries(
    summed.map((name) => [name, rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)]),
  );
}

describe(`the usage of a store (HANSARD_SEED=${seed})`, () => {
  it('is, by any keys, what was recorded, and its rows sum up to the total', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { store, calls } = await randomStore(randomFrom(seed + round));
      const where = `HANSARD_SEED=${seed}, round ${round}`;
      const whole = sumOf([(await usageOf(store)).total]);
      expect(whole, where).toEqual({
        modelCalls: calls.length,
        inputTokens: calls.reduce((sum, { input }) => sum + input, 0),
        outputTokens: calls.length,
        costUsd: calls.length * 0.25,
      });
      const pairs = usageKeys.flatMap((one) => usageKeys.map((other) => [one, other]));
      for (const by of [...usageKeys.map((key) => [key]), ...pairs.filter(([one, other]) => one !== other)]) {
        if (by.includes('tool')) continue;
        const { rows, total } = await usageOf(store, { by, zone: 'utc' });
        expect(sumOf(rows), `${where}, by ${by}`).toEqual(whole);
        expect(sumOf([total]), `${where}, by ${by}`).toEqual(whole);
        if (by.some((key) => truthOf[key] === undefined)) continue;
        const found = rows.map(({ values, inputTokens }) => [values.join(' '), inputTokens ?? 0]);
        expect(Object.fromEntries(found), `${where}, by ${by}`).toEqual(tokensBy(calls, by));
      }
    }
  });

  it('is the sum of its parts: of tasks, of dispatches, and of the time before and from any moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const random = randomFrom(seed + round);
      const { store } = await randomStore(random);
      const whole = sumOf([(await usageOf(store)).total]);
      const { dispatches } = await store.listDispatches();
      const at = start + Math.floor(random() * 20 * 86_400_000);
      const parts = [
        tasks.map((taskDir) => usageOf(store, { taskDir })),
        dispatches.map((one) => usageOf(store, { dispatches: [one] })),
        [usageOf(store, { until: at }), usageOf(store, { since: at })],
      ];
      for (const part of parts) {
        const totals = (await Promise.all(part)).map(({ total }) => total);
        expect(sumOf(totals), `HANSARD_SEED=${seed}, round ${round}`).toEqual(whole);
      }
    }
  });

  it('counts a dispatch once in the total, and once under each value', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await store.beginDispatch('lab/tasks/a', { role: 'worker' });
    for (const model of ['m1', 'm2', 'm1'])
      await dispatch.append(
        newEvent('agent:inference', { model, usage: { inputTokens: 1, outputTokens: 1 } }),
      );
    await dispatch.end({ status: 'completed' });
    const { rows, total } = await usageOf(store);
    expect(rows.map(({ values, dispatches }) => [...values, dispatches])).toEqual([
      ['m1', 1],
      ['m2', 1],
    ]);
    expect(total.dispatches).toBe(1);
  });

  it('names what cannot be read, and counts the rest', async () => {
    let damaged = '';
    const provider = changedStore((inner) => ({
      readEvents(taskDir, dispatchId, options) {
        if (dispatchId === damaged) throw storeErrors.error('STORE_CORRUPT', 'It is damaged.');
        return inner.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = openDispatchStore(provider);
    for (const dispatchId of ['d1', 'd2']) {
      const dispatch = await store.beginDispatch('lab/tasks/a', { role: 'worker', dispatchId });
      const data = { model: 'm', usage: { inputTokens: 5, outputTokens: 1 } };
      await dispatch.append(newEvent('agent:inference', data));
      await dispatch.end({ status: 'completed' });
    }
    damaged = 'd1';
    const read = await usageOf(store, { by: ['agent'] });
    expect(read.unreadable).toMatchObject([{ dispatchId: 'd1', error: { code: 'STORE_CORRUPT' } }]);
    expect(read.total).toMatchObject({ dispatches: 1, inputTokens: 5 });
    // The envelopes are enough for a model.
    expect((await usageOf(store)).total).toMatchObject({ dispatches: 2, inputTokens: 10 });
  });
});
