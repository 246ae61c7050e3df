import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatch, openDispatchStore } from '@hansard/dispatch';
import { type DispatchEnvelope, type NewEvent, newEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createRedactor } from '@hansard/redaction';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { begin, say, task, write } from '../support/route-models.ts';

const call = (costUsd: number, inputTokens = 10, links: Partial<NewEvent> = {}): NewEvent =>
  newEvent('agent:inference', { model: 'm', usage: { inputTokens, outputTokens: 2 }, costUsd }, links);

const timestamp = '2026-03-01T09:00:00.000Z';
const secret = 'AKIAQ7RZ2LMN4PQR6STU';

const figuresOf = ({ cost, usage, models }: DispatchEnvelope) => ({ cost, usage, models });

const once = {
  cost: 0.25,
  usage: { inputTokens: 10, outputTokens: 2 },
  models: [{ model: 'm', calls: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.25 }],
};

/** A store whose appends wait for the gate. */
function slowStore(gate: Gate): DispatchStoreProvider {
  return changedStore((inner) => ({
    async appendEvent(taskDir, dispatchId, event) {
      await gate.opened;
      return inner.appendEvent(taskDir, dispatchId, event);
    },
    async appendEvents(taskDir, dispatchId, events) {
      await gate.opened;
      return inner.appendEvents(taskDir, dispatchId, events);
    },
  }));
}

describe('the envelope of a dispatch that a program ends', () => {
  it('has the cost, usage and models of its calls', async () => {
    const dispatch = await begin(openDispatchStore(createMemoryStore()));
    await dispatch.append(call(0.25));
    expect(figuresOf(await dispatch.end({ status: 'completed' }))).toEqual(once);
  });

  it('has the totals that the last session:complete states', async () => {
    const dispatch = await begin(openDispatchStore(createMemoryStore()));
    await dispatch.append(call(0.25));
    const usage = { inputTokens: 900, outputTokens: 8 };
    await dispatch.append(
      newEvent('session:complete', { status: 'completed', costUsd: 1.5, usage, turns: 3 }),
    );
    const { cost, usage: ended, models } = await dispatch.end({ status: 'completed' });
    expect({ cost, usage: ended, models }).toEqual({
      cost: 1.5,
      usage: { ...usage, turns: 3 },
      models: once.models,
    });
  });

  it('has them after an update that ends it, too', async () => {
    const dispatch = await begin(openDispatchStore(createMemoryStore()));
    await dispatch.append(call(0.25));
    expect(figuresOf(await dispatch.update({ status: 'aborted' }))).toEqual(once);
  });

  it('has each call once, though each event is appended twice, alone and in batches', async () => {
    const dispatch = await begin(openDispatchStore(createMemoryStore()));
    const events = [call(0.25, 10, { id: 'b' }), { ...say('x'), id: 'a' }, call(0.5, 1, { id: 'a2' })];
    for (const event of events) {
      const recorded = await dispatch.append(event);
      await dispatch.append(recorded);
    }
    const recorded = await dispatch.append(
      events.map((event, index) => ({ ...event, id: `batch-${index}` })),
    );
    await dispatch.append([...recorded, ...recorded]);
    await dispatch.append(recorded.toReversed());
    const { cost, models } = await dispatch.end({ status: 'completed' });
    expect(cost).toBe(1.5);
    expect(models?.[0]?.calls).toBe(4);
  });

  it('has a call whose append was not awaited, in a store that is slow', async () => {
    const gate = new Gate();
    const dispatch = await begin(openDispatchStore(slowStore(gate)));
    const prompt = newEvent('user:message', { text: 'Route the models', source: { kind: 'user' } });
    const appends = [dispatch.append(call(0.125)), dispatch.append([call(0.125, 0), prompt])];
    const ending = dispatch.end({ status: 'completed' });
    await turn();
    gate.open();
    await Promise.all(appends);
    expect(await ending).toMatchObject({ cost: 0.25, title: 'Route the models' });
  });

  it('does not have a call that the store refused', async () => {
    const provider = changedStore((inner) => ({
      async appendEvent(taskDir, dispatchId, event) {
        if (event.data.costUsd === 9) throw new Error('disk full');
        return inner.appendEvent(taskDir, dispatchId, event);
      },
    }));
    const dispatch = await begin(openDispatchStore(provider));
    const appends = [dispatch.append(call(9)), dispatch.append(call(0.25))];
    const ending = dispatch.end({ status: 'completed' });
    await Promise.allSettled(appends);
    expect(figuresOf(await ending)).toEqual(once);
  });

  it('has a figure that the caller gives, null included, and the others of the log', async () => {
    const store = openDispatchStore(createMemoryStore());
    const given = await begin(store);
    await given.append(call(0.25));
    const { cost, usage } = await given.end({ status: 'completed', cost: 7, usage: null });
    expect({ cost, usage }).toEqual({ cost: 7, usage: null });
    const without = await begin(store);
    await without.update({ cost: 3 });
    expect((await without.end({ status: 'completed' })).cost).toBe(3);
  });

  it('has them when the dispatch was left without an end', async () => {
    const store = openDispatchStore(createMemoryStore());
    const dispatch = await begin(store);
    await dispatch.append(call(0.25));
    await dispatch[Symbol.asyncDispose]();
    const envelope = await store.getDispatchEnvelope(task, dispatch.dispatchId);
    expect(envelope).toMatchObject({ status: 'aborted', ...once });
  });
});

describe('the envelope of a dispatch that is opened again', () => {
  /** A dispatch that was ended, and is open again. */
  async function again(
    events: readonly NewEvent[],
  ): Promise<{ dispatch: Dispatch; ended: DispatchEnvelope; reads: number[] }> {
    const reads: number[] = [];
    const provider = changedStore((inner) => ({
      readEvents(taskDir, dispatchId, options) {
        reads.push(options?.after ?? -1);
        return inner.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = openDispatchStore(provider);
    const first = await begin(store);
    for (const event of events) await first.append(event);
    const ended = await first.end({ status: 'completed' });
    const dispatch = await store.openDispatch(first, write);
    reads.length = 0;
    return { dispatch, ended, reads };
  }

  it('has the calls of before and after, also when old events are appended again', async () => {
    const old = [call(0.25, 10, { id: 'old', timestamp }), { ...say('x'), id: 'z', timestamp }];
    const { dispatch, reads } = await again(old);
    const [first] = await dispatch.append(old);
    await dispatch.append(call(0.5));
    if (first !== undefined) await dispatch.append(first);
    const { cost, models } = await dispatch.end({ status: 'completed' });
    expect({ cost, calls: models?.[0]?.calls }).toEqual({ cost: 0.75, calls: 2 });
    // What the envelope counts already is not read again.
    expect(Math.min(...reads)).toBeGreaterThan(-1);
  });

  it('is unchanged if only old events are appended again', async () => {
    const old = call(0.25, 10, { id: 'old', timestamp });
    const { dispatch, ended } = await again([old]);
    await dispatch.append(old);
    expect(figuresOf(await dispatch.end({ status: 'completed' }))).toEqual(figuresOf(ended));
  });

  it('has what another process wrote before it was killed', async () => {
    const provider = createMemoryStore();
    const killed = await begin(openDispatchStore(provider));
    await killed.append([say('x'), call(0.25)]);
    killed.abandon();
    provider.releaseDispatch(task, killed.dispatchId);
    const store = openDispatchStore(provider);
    const dispatch = await store.openDispatch(killed, write);
    await dispatch.append(call(0.5));
    expect((await dispatch.end({ status: 'completed' })).cost).toBe(0.75);
  });

  it('does not count a late call of a message that an earlier session:complete has counted', async () => {
    const { dispatch } = await again([
      { ...say('hello'), messageId: 'msg-1' },
      newEvent('session:complete', {
        status: 'completed',
        costUsd: 2,
        usage: { inputTokens: 9, outputTokens: 9 },
      }),
    ]);
    await dispatch.append({ ...call(0.25), messageId: 'msg-1' });
    expect((await dispatch.end({ status: 'completed' })).cost).toBe(2);
  });
});

describe('the envelope of a dispatch whose log was changed by a user', () => {
  it('has the calls that are left after an accepted loss, with those that follow', async () => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-figures-'));
    try {
      const store = openDispatchStore(openJsonFileStore({ root }));
      const first = await begin(store);
      for (const costUsd of [0.5, 0.25, 4]) await first.append(call(costUsd));
      expect((await first.end({ status: 'completed' })).cost).toBe(4.75);
      const file = globSync('**/*.json', { cwd: root }).find((name) => name.includes(first.dispatchId)) ?? '';
      const path = join(root, file);
      writeFileSync(path, readFileSync(path, 'utf8').replace('"costUsd":0.25', '"costUsd":9.25'));
      await store.close();
      const again = openDispatchStore(openJsonFileStore({ root }));
      await again.acceptLoss(first);
      const dispatch = await again.openDispatch(first, write);
      await dispatch.append(call(0.125));
      expect((await dispatch.end({ status: 'completed' })).cost).toBe(4.625);
      await again.close();
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('has the same figures after a redaction, which are counted anew when it ends again', async () => {
    const reads: number[] = [];
    const provider = changedStore((inner) => ({
      readEvents(taskDir, dispatchId, options) {
        reads.push(options?.after ?? -1);
        return inner.readEvents(taskDir, dispatchId, options);
      },
    }));
    const store = openDispatchStore(provider);
    const first = await begin(store);
    await first.append([call(0.25), say(`the key is ${secret}`)]);
    const ended = await first.end({ status: 'completed' });
    expect((await store.redactDispatch(first, createRedactor())).events).toBe(1);
    const dispatch = await store.openDispatch(first, write);
    expect(dispatch.envelope).toMatchObject({ ...figuresOf(ended), folded: null });
    reads.length = 0;
    await dispatch.append(call(0.5));
    expect((await dispatch.end({ status: 'completed' })).cost).toBe(0.75);
    expect(reads[0]).toBe(-1);
  });
});
