import { createHash } from 'node:crypto';
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
const sent = { kind: 'image', mediaType: 'image/png', base64: 'AQIDBA==' };
const digestOf = (base64: string) => createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
const nameOf = (base64: string, bytes: string) =>
  `[image/png ${bytes}, sha256 ${digestOf(base64).slice(0, 8)}…]`;
const named = nameOf('AQIDBA==', '4 bytes');

/** A prompt as the log renders it: a file by its digest instead of its bytes. */
function inLog(messages: readonly ModelMessage[]): unknown[] {
  return messages.map((message) => {
    if (!('files' in message) || message.files === undefined) return message;
    const files = message.files.map(({ kind, mediaType, base64 }) => ({
      kind,
      mediaType,
      sha256: digestOf(base64),
      size: Buffer.from(base64, 'base64').length,
    }));
    return { ...message, files };
  });
}

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
      text: `The screen\n${nameOf('CQ==', '1 byte')}`,
      files: [{ ...sent, base64: 'CQ==' }],
    };
    const map = { role: 'user', text: `A map\n${named}\n${named}`, files: [sent, sent] };
    expect(prompts.map((messages) => messages.filter((message) => 'files' in message))).toEqual([
      [map],
      [screen],
      [],
    ]);
  });

  it('stay in the prompt with earlier output, and give the same bytes again from the log', async () => {
    const { prompts, log } = await watched({ name: 'full', images: 'sent', earlierOutput: 'kept' });
    expect(prompts[2]?.filter((message) => 'files' in message)).toHaveLength(2);
    const rendered = [...renderCalls(log)];
    expect(rendered.map(({ messages }) => JSON.stringify(messages))).toEqual(
      prompts.map((one) => JSON.stringify(inLog(one))),
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
    const last = prompts.at(-1)?.filter(({ text }) => text.includes('[image/png')) ?? [];
    expect(last.map((message) => ('files' in message ? message.files?.length : 0))).toEqual([0, 1, 1]);
  });

  it('are sent or named, and nothing else', async () => {
    const { create } = prepare();
    const context = { name: 'full', images: 'shrunk' } as never;
    await expect(create({ context })).rejects.toThrow("images must be 'named' or 'sent'");
  });
});

describe('files that come with a message or a result', () => {
  const pdf = {
    kind: 'document',
    mediaType: 'application/pdf',
    name: 'plan.pdf',
    base64: 'JVBERi0xLjQK',
  } as const;

  it('reach the model, also after a load, and the log has their bytes once', async () => {
    const prompts: (readonly ModelMessage[])[] = [];
    const prepared = prepare();
    const options = {
      tools: [
        tools({ shoot: async () => ({ ...done('Shot.'), parts: [{ ...sent, kind: 'image' as const }] }) }),
      ],
      model: model(({ messages }) => {
        prompts.push(messages);
        return prompts.length === 1 ? calls('shoot') : says('I see.');
      }),
    };
    const { root, session } = await prepared.create(options);
    await root.harken('What is in it?', { parts: [pdf, { ...sent, kind: 'image' }] });
    await root.response();
    await session.close();
    const loaded = await prepared.load(options);
    await loaded.root.harken('And now?');
    await loaded.root.response();
    for (const messages of prompts) expect(messages[0]).toMatchObject({ role: 'user', files: [pdf, sent] });
    for (const messages of prompts.slice(1))
      expect(messages[2]).toMatchObject({ role: 'tool', files: [sent] });
    const log = await prepared.events();
    const stored = log.filter(({ type }) => type === 'content:stored').map(({ id }) => id);
    expect(stored).toEqual([digestOf(pdf.base64), digestOf(sent.base64)]);
    expect(log.findIndex(({ type }) => type === 'content:stored')).toBeLessThan(
      log.findIndex(({ type }) => type === 'user:message'),
    );
    expect(JSON.stringify(log)).not.toContain(pdf.base64);
    for (const { recorded, manifest } of renderCalls(log))
      expect(recorded && compareContexts(recorded, manifest)).toEqual([]);
  });

  it('are named only, if the policy says so', async () => {
    const prompts: (readonly ModelMessage[])[] = [];
    const { create } = prepare();
    const { root } = await create({
      context: { name: 'full', images: 'named' },
      model: model(({ messages }) => {
        prompts.push(messages);
        return says('No.');
      }),
    });
    await root.harken('', { parts: [{ ...sent, kind: 'image' }] });
    await root.response();
    expect(prompts[0]).toEqual([{ role: 'user', text: named }]);
  });

  it('leave the transcript of an agent whole that was evicted from memory', async () => {
    const { create } = prepare();
    const { root, session } = await create({ model: model(() => says('Yes.')) });
    for (const name of ['a', 'b', 'c']) {
      const base64 = Buffer.from(`the image ${name}`).toString('base64');
      await root.harken(name, { parts: [{ ...sent, kind: 'image', base64 }] });
      await root.response();
    }
    const before = await root.transcript();
    expect(before).toHaveLength(6);
    await session.evictAgent(root.agentId);
    expect(await root.transcript()).toEqual(before);
  });
});
