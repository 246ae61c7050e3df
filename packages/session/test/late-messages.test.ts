import { compareContexts, renderCalls } from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { prepare } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

/** A session whose model is asked to do something before each answer, and what it was given. */
function withArrivals(answers: readonly (() => Promise<ReturnType<typeof says>>)[]) {
  const prepared = prepare();
  const given: string[][] = [];
  const left = [...answers];
  const options = {
    tools: [tools({ look: () => done('A cup.') })],
    model: model(async ({ messages }) => {
      given.push(messages.map(({ role, text }: ModelMessage) => `${role}: ${text}`));
      const next = left.shift();
      if (next === undefined) throw new Error('No answer is left.');
      return next();
    }),
  };
  return { prepared, options, given };
}

describe('a message that arrives while its agent answers', () => {
  it('is not answered by that, in the session and when it is loaded, and comes after the answer in the next call', async () => {
    let arrive = async (): Promise<unknown> => undefined;
    const { prepared, options, given } = withArrivals([
      async () => {
        await arrive();
        return says('One is a cup.');
      },
      async () => says('Two is a jug.'),
    ]);
    const { root, session } = await prepared.create(options);
    arrive = () => root.harken('What is two?');
    await root.harken('What is one?');
    await root.response();
    expect(root.awaitsResponse).toBe(true);
    await session.close();

    const again = await prepared.load(options);
    expect(again.root.awaitsResponse).toBe(true);
    await again.root.response();
    expect(again.root.awaitsResponse).toBe(false);
    await again.session.close();
    expect(given).toEqual([
      ['user: What is one?'],
      ['user: What is one?', 'assistant: One is a cup.', 'user: What is two?'],
    ]);
    for (const { recorded, manifest } of renderCalls(await prepared.events()))
      expect(recorded === null ? null : compareContexts(recorded, manifest)).toEqual([]);
    expect(createLogIndex(await prepared.events()).diagnostics).toEqual([]);
  });

  it('comes after the results of the calls that the answer makes', async () => {
    let arrive = async (): Promise<unknown> => undefined;
    const { prepared, options, given } = withArrivals([
      async () => {
        await arrive();
        return calls('look', {}, 'c1', 'I look.');
      },
      async () => says('A cup, and yes.'),
    ]);
    const { root } = await prepared.create(options);
    arrive = () => root.harken('Are you there?');
    await root.harken('What is on the table?');
    await root.response();
    expect(given[1]).toEqual([
      'user: What is on the table?',
      'assistant: I look.',
      'tool: A cup.',
      'user: Are you there?',
    ]);
    expect(root.awaitsResponse).toBe(false);
  });

  it('is in the next call, including when it was an observation', async () => {
    let arrive = async (): Promise<unknown> => undefined;
    const { prepared, options, given } = withArrivals([
      async () => {
        await arrive();
        return says('First.');
      },
      async () => says('Second.'),
    ]);
    const { root, session } = await prepared.create(options);
    arrive = () => root.observe(['seen late']);
    await root.observe(['seen early']);
    await root.response();
    expect(root.awaitsResponse).toBe(false);
    await session.evictAgent(root.agentId);
    await root.response();
    expect(given).toEqual([['user: seen early'], ['assistant: First.', 'user: seen late']]);
  });

  it('is kept by a compaction that is logged before it is answered', async () => {
    let arrive = async (): Promise<unknown> => undefined;
    const { prepared, options, given } = withArrivals([
      async () => {
        await arrive();
        return says('First.');
      },
      async () => says('Second.'),
    ]);
    const { root } = await prepared.create(options);
    let late = '';
    arrive = async () => {
      late = await root.harken('Late.');
    };
    await root.harken('Early.');
    await root.response();
    await expect(root.compact('They talked.')).rejects.toThrow(/has not answered yet/);
    await root.compact('They talked.', { keptFrom: late });
    await root.response();
    expect(given[1]).toEqual(['user: They talked.', 'user: Late.']);
  });
});
