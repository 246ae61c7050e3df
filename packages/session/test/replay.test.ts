import { type ContextManifest, compareContexts, renderCalls, type TokenCounter } from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { calls, done, model, type Reply, says, tools } from './scripted.ts';

const words: TokenCounter = { id: 'words', count: (text) => text.split(/\s+/).length };
const page = 'a page of what stands on it '.repeat(40);

/** A session whose model thinks in its first answer, and what its model was given in each call. */
function session(first: Reply) {
  const prompts: (readonly ModelMessage[])[] = [];
  const options = {
    tools: [tools({ read: () => done(page) })],
    model: model(({ messages }) => {
      prompts.push(messages);
      return prompts.length === 1 ? first : says(`Answer ${prompts.length}.`);
    }),
  };
  return { ...prepare(), prompts, options };
}

const thinking = { text: 'First the page.', signature: 'abc' };
const replay = { signed: ['abc'] };
const reads = { ...calls('read', {}, 'c1', 'I read.'), thinking, replay };
const toolCalls = [{ toolCallId: 'c1', tool: 'read', input: {} }];

describe('what a provider wants back with an answer', () => {
  it('is in every later prompt with the thoughts, also after loading, and renders again to the same bytes', async () => {
    const { create, load, events, prompts, options } = session(reads);
    const { root, session: begun } = await create(options);
    await root.harken('Read.');
    await root.response();
    await begun.evictAgent(root.agentId);
    await root.harken('Again.');
    await root.response();
    await begun.close();
    const loaded = await load(options);
    await loaded.root.harken('And now?');
    await loaded.root.response();

    const answer = { role: 'assistant', text: 'I read.', toolCalls, thinking: 'First the page.', replay };
    expect(prompts.map((messages) => messages[1])).toEqual([undefined, answer, answer, answer]);
    const log = await events();
    expect(find(log, 'agent:inference').data.replay).toEqual(replay);
    const rendered = [...renderCalls(log)];
    expect(rendered.map(({ messages }) => JSON.stringify(messages))).toEqual(
      prompts.map((one) => JSON.stringify(one)),
    );
    for (const { recorded, manifest } of rendered)
      expect(recorded && compareContexts(recorded, manifest)).toEqual([]);
  });

  it.each<[string, Partial<Reply>, object]>([
    ['nothing', { thinking }, {}],
    ['a replay without thoughts', { replay }, { replay }],
    ['null', { replay: null }, { replay: null }],
  ])('is %s if that is what it returned', async (_what, more, expected) => {
    const { create, prompts, options } = session({ ...calls('read', {}, 'c1', 'I read.'), ...more });
    const { root } = await create(options);
    await root.harken('Read.');
    await root.response();
    expect(prompts[1]?.[1]).toEqual({ role: 'assistant', text: 'I read.', toolCalls, ...expected });
  });

  it('is left out where the context shows the answer in less detail, and counts where it is shown', async () => {
    const { create, events, prompts, options } = session(reads);
    const { root } = await create({
      ...options,
      context: { name: 'faded', budget: 1_200, reserve: 0 },
      tokens: words,
    });
    await root.harken('Read.');
    await root.response();
    for (let turn = 0; turn < 6; turn += 1) {
      await root.harken(page);
      await root.response();
    }
    const plain = { role: 'assistant', text: 'I read.', toolCalls };
    const whole = { ...plain, thinking: 'First the page.', replay };
    const shown = prompts.flatMap((prompt) => prompt.filter(({ text }) => text === 'I read.'));
    expect(shown[0]).toEqual(whole);
    expect(shown).toContainEqual(plain);
    for (const message of shown) expect([plain, whole]).toContainEqual(message);

    const [, second] = (await events()).filter(({ type }) => type === 'agent:inference');
    const manifest = second?.data.context as unknown as ContextManifest | undefined;
    const counted = prompts[1]?.reduce((sum, { text }) => sum + 4 + words.count(text), 0) ?? 0;
    const ofCall = 4 + words.count('c1 read {}');
    const ofReplay = words.count('First the page.') + words.count(JSON.stringify(replay));
    expect(manifest?.tokens?.prompt).toBe(counted + ofCall + ofReplay);
  });

  it('must be JSON; otherwise the model has failed, and only the attempt is recorded', async () => {
    const { create, events, options } = session({ ...says('Hello.'), replay: { at: 1n } as never });
    const { root } = await create(options);
    await root.harken('Hi.');
    await expect(root.response()).rejects.toMatchObject({ code: 'SESSION_MODEL_FAILED' });
    expect((await events()).map(({ type }) => type)).toEqual([
      'agent:created',
      'user:message',
      // The attempt, with its cost.
      'agent:inference',
      'harness:error',
    ]);
  });

  it('is copied: a provider that changes it later changes nothing', async () => {
    const given = { signed: ['abc'] };
    const { create, prompts, options } = session({ ...reads, replay: given });
    const { root } = await create(options);
    await root.harken('Read.');
    const response = root.response();
    await response;
    given.signed.push('changed');
    await root.harken('Again.');
    await root.response();
    expect(prompts[2]?.[1]).toMatchObject({ replay: { signed: ['abc'] } });
    const [, answer] = prompts[2] ?? [];
    expect(answer !== undefined && 'replay' in answer && Object.isFrozen(answer.replay)).toBe(true);
  });
});
