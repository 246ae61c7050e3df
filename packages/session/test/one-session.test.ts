import { closeAbandonedDispatches, startDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { dispatchId, prepare, taskDir, typesOf } from './prepare.ts';
import { answers, says, tools } from './scripted.ts';

const locked = { code: 'STORE_LOCKED', message: expect.stringContaining('a session of this process') };

describe('a dispatch that has an open session', () => {
  it('is not loaded beside it, from its beginning to its end, and can be loaded then', async () => {
    const { create, load, events } = prepare();
    const { root, session } = await create();
    await expect(load()).rejects.toMatchObject(locked);
    await root.harken('Hello?');
    await expect(load()).rejects.toMatchObject(locked);
    await session.close();

    const again = await load({ model: answers(says('Yes?')) });
    await expect(load()).rejects.toMatchObject(locked);
    expect(String(await again.root.response())).toBe('Yes?');
    await again.session.complete('aborted');
    expect(typesOf(await events()).filter((type) => type === 'session:complete')).toHaveLength(2);
    await (await load()).session.close();
  });

  it('is loaded once where two ask for it at the same time', async () => {
    const { create, load } = prepare();
    await (await create()).session.close();
    const settled = await Promise.allSettled([load(), load()]);
    expect(settled).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: locked }]);
  });

  it('does not affect another dispatch, nor the same names in another store', async () => {
    const one = prepare();
    await one.create();
    await one.create({ dispatchId: 'D2' });
    await prepare().create();
  });

  it('is not ended by a start-up in the same process', async () => {
    const { store, create, load, envelope } = prepare();
    await (await create()).session.close();
    await load();
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
    expect(await envelope()).toMatchObject({ status: 'running' });
  });
});

describe('a dispatch that a start-up ends', () => {
  it('is loaded as a session when that is done, not in the middle', async () => {
    const provider = createMemoryStore();
    const gone = await prepare(provider).create();
    await gone.session.flushed();
    const reading = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = new Proxy(provider, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        if (key !== 'readEvents') return member.bind(target);
        return async (...place: unknown[]) => {
          reading.resolve();
          await goOn.promise;
          return member.apply(target, place);
        };
      },
    });
    const { store, load, envelope } = prepare(slow);
    const closing = closeAbandonedDispatches(store, taskDir);
    await reading.promise;
    await expect(load()).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('a start-up'),
    });
    goOn.resolve();
    await closing;
    expect(await envelope()).toMatchObject({ status: 'crashed' });
    const { session } = await load();
    expect(await envelope()).toMatchObject({ status: 'running' });
    await session.close();
  });
});

describe('a dispatch whose agent runs', () => {
  it('cannot be loaded as a session until it has ended', async () => {
    const { store, load } = prepare();
    const goOn = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const agent: AgentProvider = {
      contract: 1,
      async *run() {
        yield { kind: 'event', event: newEvent('agent:created', {}, { agentId: 'agent_001' }) };
        begun.resolve();
        await goOn.promise;
      },
    };
    const run = await startDispatch({ store, taskDir, dispatchId, role: 'lead', fidelity: 'full', agent });
    await begun.promise;
    await expect(load()).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('a run of this process'),
    });
    goOn.resolve();
    await run.ended;
    await (await load()).session.close();
  });
});

describe('a session that could not be opened', () => {
  it('can be opened again', async () => {
    const { create, load } = prepare();
    await expect(load()).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
    await (await create()).session.close();
    const broken = { ...tools({}), listTools: () => Promise.reject(new Error('no server')) };
    await expect(load({ tools: [broken] })).rejects.toThrow('no server');
    await (await load()).session.close();
  });

  it('has begun no dispatch where an option was refused', async () => {
    const { store, create } = prepare();
    const noPrompt = 5 as never;
    await expect(create({ systemPrompt: noPrompt })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('a session whose store failed', () => {
  it('can be loaded again by the same program, as the error says', async () => {
    const failing = failingStore(1);
    const { store, create, load } = prepare(failing.provider);
    const { root } = await create();
    await expect(root.harken('Hello?')).rejects.toBe(failing.error);
    failing.recover();
    const again = await load();
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
    await again.root.harken('Hello?');
    await again.session.close();
  });

  it('is left alone once it was ended and somebody set it running again by hand', async () => {
    const failing = failingStore(1);
    const { store, create, load } = prepare(failing.provider);
    const { root } = await create();
    await expect(root.harken('Hello?')).rejects.toBe(failing.error);
    failing.recover();
    expect(await closeAbandonedDispatches(store, taskDir)).toHaveLength(1);
    const byHand = await store.openDispatch(taskDir, dispatchId, { write: true });
    await byHand.update({ status: 'running', completedAt: null });
    expect(await closeAbandonedDispatches(store, taskDir)).toEqual([]);
    await byHand.release();
    await (await load()).session.close();
  });

  it('is ended by a start-up in the same process, whatever it was doing', async () => {
    const whileItRan = failingStore(1);
    const one = prepare(whileItRan.provider);
    const { root } = await one.create();
    await expect(root.harken('Hello?')).rejects.toBe(whileItRan.error);
    whileItRan.recover();

    const whileItBegan = failingStore(0);
    const other = prepare(whileItBegan.provider);
    await expect(other.create()).rejects.toBe(whileItBegan.error);
    whileItBegan.recover();

    for (const { store, envelope } of [one, other]) {
      await closeAbandonedDispatches(store, taskDir);
      expect(await envelope()).toMatchObject({ status: 'crashed' });
    }
  });

  it('while its end was written has the end that its log states', async () => {
    const { store, create, envelope, breakNext } = preparedToBreak();
    const { session } = await create();
    breakNext('updateDispatch', { status: 'completed' });
    await expect(session.complete('completed', 'They met.')).rejects.toThrow('The disk is gone.');
    await closeAbandonedDispatches(store, taskDir);
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('while it was loaded keeps the end that its log states', async () => {
    const { create, load, envelope, breakNext } = preparedToBreak();
    await (await create()).session.close();
    breakNext('readEvents', { after: 1 });
    await expect(load()).rejects.toThrow('The disk is gone.');
    expect(await envelope()).toMatchObject({ status: 'completed', completedAt: expect.any(String) });
    await (await load()).session.close();
  });
});

/** A store with one call that fails: the next one, or a later one, of a method with such an argument. */
function preparedToBreak() {
  let broken: { readonly method: PropertyKey; readonly argument: object; left: number } | null = null;
  const { error, provider: inner } = failingStore();
  const provider = new Proxy(inner, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (key === broken?.method && has(args[2], broken.argument)) broken.left -= 1;
        if (broken?.left !== 0) return member.apply(target, args);
        broken = null;
        throw error;
      };
    },
  });
  return {
    ...prepare(provider),
    breakNext(method: PropertyKey, argument: object, left = 1) {
      broken = { method, argument, left };
    },
  };
}

function has(value: unknown, fields: object): boolean {
  return Object.entries(fields).every(([key, field]) => (value as Record<string, unknown>)[key] === field);
}
