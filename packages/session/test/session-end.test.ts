import type { CapturedEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { prepare, typesOf } from './prepare.ts';
import { answers, says } from './scripted.ts';

describe('the end of a session', () => {
  it('is in the log and in the envelope, with the sum of what its model calls took', async () => {
    const { create, events, envelope } = prepare();
    const { root, session } = await create({
      model: answers(
        says('One.', { usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5 }, costUsd: 0.25 }),
        says('Two.', { usage: { inputTokens: 20, outputTokens: 4 }, costUsd: 0.5 }),
      ),
    });
    await root.harken('First?');
    await root.response();
    await root.harken('Second?');
    await root.response();
    await session.complete('completed', 'Two answers.');
    const usage = { inputTokens: 30, outputTokens: 6, cacheReadTokens: 5 };
    expect((await events()).at(-1)).toMatchObject({
      type: 'session:complete',
      data: { status: 'completed', result: 'Two answers.', costUsd: 0.75, usage, turns: 2 },
    });
    expect(await envelope()).toMatchObject({
      status: 'completed',
      cost: 0.75,
      usage: { ...usage, turns: 2 },
      completedAt: expect.any(String),
    });
    await expect(session.complete()).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });

  it('has an answer of an agent as its result, given as response() gave it', async () => {
    const { create, events, envelope } = prepare();
    const { root, session } = await create({ model: answers(says('They met.')) });
    await root.harken('Let them meet.');
    await session.complete('completed', await root.response());
    expect((await events()).at(-1)).toMatchObject({
      type: 'session:complete',
      data: { status: 'completed', result: 'They met.' },
    });
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('with a result that cannot be recorded is refused, and the session stays open', async () => {
    const { create, envelope } = prepare();
    const { root, session } = await create({ model: answers(says('They met.')) });
    await expect(session.complete('completed', 7 as never)).rejects.toMatchObject({ code: 'EVENT_INVALID' });
    await root.harken('Let them meet.');
    await session.complete('completed', await root.response());
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('after a model failed or its owner stopped it has the cost of the calls before', async () => {
    const failed = prepare();
    const one = await failed.create({ model: answers(says('One.', { costUsd: 0.25 })) });
    await one.root.harken('First?');
    await one.root.response();
    await one.root.harken('Second?');
    await expect(one.root.response()).rejects.toMatchObject({ code: 'SESSION_MODEL_FAILED' });
    await one.session.complete('failed');
    const usage = { inputTokens: 10, outputTokens: 2, turns: 1 };
    expect(await failed.envelope()).toMatchObject({ status: 'crashed', cost: 0.25, usage });

    const stopped = prepare();
    const controller = new AbortController();
    const other = await stopped.create({
      model: answers(says('One.', { costUsd: 0.25 })),
      signal: controller.signal,
    });
    await other.root.harken('First?');
    await other.root.response();
    controller.abort(new Error('enough'));
    await other.session.close();
    expect(await stopped.envelope()).toMatchObject({ status: 'aborted', cost: 0.25, usage });
  });

  it('by close is a completed dispatch, once; by a failure a crashed one', async () => {
    const one = prepare();
    const { session } = await one.create();
    await session.close();
    await session.close();
    expect(typesOf(await one.events())).toEqual(['agent:created', 'session:complete']);
    expect(await one.envelope()).toMatchObject({ status: 'completed', cost: null, usage: null });

    const other = prepare();
    await (await other.create()).session.complete('failed');
    expect(await other.envelope()).toMatchObject({ status: 'crashed' });
  });

  it('by close is an aborted dispatch where its owner stopped it, unless the owner says what it is', async () => {
    const controller = new AbortController();
    const one = prepare();
    const { session } = await one.create({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await session.close();
    expect(await one.envelope()).toMatchObject({ status: 'aborted' });
    expect((await one.events()).at(-1)).toMatchObject({
      type: 'session:complete',
      data: { status: 'aborted' },
    });

    const other = prepare();
    const done = new AbortController();
    const ending = await other.create({ signal: done.signal });
    done.abort();
    await ending.session.complete('completed', 'It was done already.');
    expect(await other.envelope()).toMatchObject({ status: 'completed' });
  });

  it('is the last event, whatever is said while it is written', async () => {
    const provider = createMemoryStore();
    const ending = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = new Proxy(provider, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        return async (...args: readonly [string, string, CapturedEvent[]]) => {
          if (key === 'appendEvents' && args[2][0]?.type === 'session:complete') {
            ending.resolve();
            await written.promise;
          }
          return member.apply(target, args);
        };
      },
    });
    const { create, events } = prepare(slow);
    const { root, session } = await create();
    const closed = session.close();
    await ending.promise;
    const said = expect(root.harken('One more thing')).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    written.resolve();
    await said;
    await closed;
    expect(typesOf(await events())).toEqual(['agent:created', 'session:complete']);
  });

  it('allows no more messages or answers', async () => {
    const { create } = prepare();
    const { root, session } = await create();
    await session.close();
    await expect(root.harken('Hello?')).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    await expect(root.response()).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });
});
