import {
  type ContextManifest,
  type ContextPolicy,
  compareContexts,
  renderCalls,
  type TokenCounter,
} from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

const words: TokenCounter = { id: 'words', count: (text) => text.split(/\s+/).length };
const picture = { mediaType: 'image/png', bytes: Uint8Array.from([1, 2, 3, 4]) };
const sent = { mediaType: 'image/png', base64: 'AQIDBA==' };
const named = '[image: image/png, 4 bytes]';

/** A session whose agent sees a picture and then another one that its tool makes, and the prompts of its model. */
async function watched(context: ContextPolicy | undefined) {
  const prompts: (readonly ModelMessage[])[] = [];
  const prepared = prepare();
  const options = {
    ...(context === undefined ? {} : { context }),
    tokens: words,
    tools: [
      tools({
        shoot: async (call) => {
          await call.observe('The screen', { ...picture, bytes: Uint8Array.from([9]) });
          return done('Done.');
        },
      }),
    ],
    model: model(({ messages }) => {
      prompts.push(messages);
      return prompts.length === 1 ? calls('shoot') : says('I see.');
    }),
  };
  const { root, session } = await prepared.create(options);
  await root.observe(['A map', picture]);
  await root.observe([picture]);
  await root.harken('What is there?');
  await root.response();
  await session.close();
  const loaded = await prepared.load(options);
  await loaded.root.harken('And now?');
  await loaded.root.response();
  const log = await prepared.events();
  return { prompts, log, loaded, ...prepared };
}

describe('images that an agent observed', () => {
  it.each<[string, ContextPolicy | undefined]>([
    ['by default', undefined],
    ['if the policy says so', { name: 'full', images: 'named' }],
  ])('are text for its model %s', async (_what, policy) => {
    const { prompts } = await watched(policy);
    expect(prompts[0]?.[0]).toEqual({ role: 'user', text: `A map\n${named}\n${named}` });
    expect(JSON.stringify(prompts)).not.toContain('base64');
  });

  it('are sent to its model if the policy says so, also from a tool, and until the next answer', async () => {
    const { prompts } = await watched({ name: 'full', images: 'sent' });
    const screen = {
      role: 'user',
      text: 'The screen\n[image: image/png, 1 bytes]',
      images: [{ ...sent, base64: 'CQ==' }],
    };
    const map = { role: 'user', text: `A map\n${named}\n${named}`, images: [sent, sent] };
    expect(prompts.map((messages) => messages.filter((message) => 'images' in message))).toEqual([
      [map],
      [screen],
      [],
    ]);
  });

  it('stay in the prompt with earlier output, and give the same bytes again from the log', async () => {
    const { prompts, log } = await watched({ name: 'full', images: 'sent', earlierOutput: 'kept' });
    expect(prompts[2]?.filter((message) => 'images' in message)).toHaveLength(2);
    const rendered = [...renderCalls(log)];
    expect(rendered.map(({ messages }) => JSON.stringify(messages))).toEqual(
      prompts.map((one) => JSON.stringify(one)),
    );
    for (const { recorded, manifest } of rendered) {
      expect(recorded?.policy).toEqual({ name: 'full', images: 'sent', earlierOutput: 'kept' });
      expect(recorded && compareContexts(recorded, manifest)).toEqual([]);
    }
  });

  it('count in the budget, and become text when the output fades', async () => {
    const policy = { name: 'faded', budget: 6_000, images: 'sent' } as const;
    const { prompts, log, loaded } = await watched(policy);
    const { context } = find(log, 'agent:inference').data as { context?: unknown };
    const { tokens } = context as ContextManifest;
    const texts = prompts[0]?.reduce((sum, { text }) => sum + 4 + words.count(text), 0) ?? 0;
    expect(tokens?.prompt).toBe(texts + 2 * 1_600);
    await loaded.root.observe([picture]);
    await loaded.root.harken('And this?');
    await loaded.root.response();
    const last = prompts.at(-1)?.filter(({ text }) => text.includes('[image: ')) ?? [];
    expect(last.map((message) => ('images' in message ? message.images?.length : 0))).toEqual([0, 1, 1]);
  });

  it('are sent or named, and nothing else', async () => {
    const { create } = prepare();
    const context = { name: 'full', images: 'shrunk' } as never;
    await expect(create({ context })).rejects.toThrow("images must be 'named' or 'sent'");
  });
});
