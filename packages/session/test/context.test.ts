import { type CapturedEvent, isEventOf, newEvent } from '@hansard/events';
import { contextErrors, renderContext, type TokenCounter } from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { appendEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { dispatchId, find, prepare, taskDir } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

const words: TokenCounter = { id: 'words', count: (text) => text.split(/\s+/).length };
const long = 'a page of what stands on it '.repeat(60);

/** What the log says of each call: the manifest, and what its events give when they are rendered again. */
function again(events: readonly CapturedEvent[], agentId: string, tokens?: TokenCounter) {
  const own = events.filter((event) => event.agentId === agentId);
  return own
    .filter((event) => isEventOf(event, 'agent:inference'))
    .map(({ data: { context } }) => {
      const manifest = context as unknown as ReturnType<typeof renderContext>['manifest'];
      const upTo = own.slice(0, own.findIndex(({ id }) => id === manifest.through) + 1);
      const { policy } = manifest;
      return {
        manifest,
        rendered: renderContext(upTo, { policy, ...(tokens === undefined ? {} : { tokens }) }),
      };
    });
}

describe('the context of each call', () => {
  it('is recorded, and renders again to the very bytes that the model was given, also after loading', async () => {
    for (const more of [
      {},
      { context: { name: 'faded', budget: 900, reserve: 100 }, tokens: words },
      { context: { name: 'lastMessages', count: 3 } },
    ] as const) {
      const given: string[] = [];
      let number = 0;
      const options = {
        ...more,
        tools: [tools({ read: () => done(long) })],
        model: model(({ messages }) => {
          given.push(JSON.stringify(messages));
          number += 1;
          return number % 2 === 1 ? calls('read', { page: number }, `c${number}`) : says(`Page ${number}.`);
        }),
      };
      const prepared = prepare();
      const { root, session } = await prepared.create({ ...options, systemPrompt: 'Read.' });
      for (let turn = 0; turn < 6; turn += 1) {
        await root.harken(`Turn ${turn}`);
        await root.observe([`seen ${turn}`]);
        await root.response();
        if (turn === 3) await session.evictAgent(root.agentId);
      }
      await session.close();
      const loaded = await prepared.load(options);
      await loaded.root.harken('And now?');
      await loaded.root.response();
      await loaded.session.close();

      const tokens = 'tokens' in more ? more.tokens : undefined;
      const checked = again(await prepared.events(), root.agentId, tokens);
      expect(checked.map(({ rendered }) => JSON.stringify(rendered.messages))).toEqual(given);
      for (const { manifest, rendered } of checked) {
        expect(manifest.hash).toBe(rendered.manifest.hash);
        expect(manifest.tokens).toEqual(rendered.manifest.tokens);
      }
      expect(given).toHaveLength(14);
    }
  });

  it('is not changed by later calls, for a model that keeps it', async () => {
    const kept: (readonly ModelMessage[])[] = [];
    const asGiven: string[] = [];
    const { create } = prepare();
    const { root } = await create({
      model: model(({ messages }) => {
        kept.push(messages);
        asGiven.push(JSON.stringify(messages));
        return says(`answer ${kept.length}`);
      }),
    });
    for (let turn = 0; turn < 5; turn += 1) {
      await root.observe([`seen ${turn}`]);
      await root.harken(`turn ${turn}`);
      await root.response();
    }
    expect(kept.map((messages) => JSON.stringify(messages))).toEqual(asGiven);
    expect(new Set(asGiven).size).toBe(5);
  });

  it('shows the output since the last action only', async () => {
    const seen: (readonly ModelMessage[])[] = [];
    const { create } = prepare();
    const { root } = await create({
      model: model(({ messages }) => {
        seen.push(messages);
        return says('ok');
      }),
    });
    for (const what of ['first', 'second']) {
      await root.observe([what]);
      await root.response();
    }
    expect(seen[1]?.map(({ text }) => text)).toEqual(['ok', 'second']);
  });

  it('has the summary of a compaction in place of the messages that it replaces', async () => {
    const prepared = prepare();
    const { root, session } = await prepared.create({
      systemPrompt: 'Be brief.',
      model: model(() => says('ok')),
    });
    await root.harken('long ago');
    await root.response();
    const keptFrom = await root.harken('just now');
    await session.close();
    const { store } = prepared;
    const compaction = newEvent(
      'session:compaction',
      { trigger: 'manual', summary: 'They met.', keptFrom },
      { agentId: root.agentId },
    );
    await appendEvents(store, taskDir, dispatchId, [compaction]);
    const seen: string[][] = [];
    const loaded = await prepared.load({
      model: model(({ messages }) => {
        seen.push(messages.map(({ text }) => text));
        return says('ok');
      }),
    });
    await loaded.root.response();
    expect(seen).toEqual([['Be brief.', 'They met.', 'just now']]);
    expect((await loaded.root.transcript()).map(({ content }) => content)).toContain('long ago');
  });

  it('that has no room for the newest message is an error before the model is asked, in the log too', async () => {
    const prepared = prepare();
    const { root, session } = await prepared.create({
      context: { name: 'faded', budget: 50 },
      tokens: words,
      model: model(() => {
        throw new Error('The model was asked.');
      }),
    });
    await root.harken(long);
    const failure = await root.response().catch((error: unknown) => error);
    expect(contextErrors.is(failure, 'CONTEXT_BUDGET_TOO_SMALL')).toBe(true);
    expect(find(await prepared.events(), 'harness:error').data).toMatchObject({
      message: expect.stringContaining('budget of 50 tokens'),
    });
    await session.close();
  });

  it('of a policy that makes no sense is refused before anything is recorded', async () => {
    const { create, envelope } = prepare();
    await expect(create({ context: { name: 'faded', budget: 50 } })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
    await expect(create({ context: { name: 'lastMessages', count: 0 } })).rejects.toMatchObject({
      code: 'SESSION_OPTION_INVALID',
    });
    expect(await envelope()).toBeNull();
  });
});
