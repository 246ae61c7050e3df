import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { ModelToolCall, ToolOutcome } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { causesOf, createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { prepare } from './prepare.ts';
import { answers, done, hostOf, model, says, tools } from './scripted.ts';

const rest = () => new Promise<void>((resolve) => setImmediate(resolve));

const call = (tool: string, number: number): ModelToolCall => ({ toolCallId: `c${number}`, tool, input: {} });

const several = (...names: readonly string[]) => ({
  text: '',
  toolCalls: names.map((tool, index) => call(tool, index + 1)),
});

/** Tools that wait until the test settles them, by call id. */
function gatedTools(...names: readonly string[]) {
  const open = new Map<string, PromiseWithResolvers<string>>();
  const wait = async ({ toolCallId }: { readonly toolCallId: string }) => {
    const gate = Promise.withResolvers<string>();
    open.set(toolCallId, gate);
    return done(await gate.promise.finally(() => open.delete(toolCallId)));
  };
  return {
    open,
    provider: tools(Object.fromEntries(names.map((name) => [name, wait]))),
    async settle(toolCallId: string, how: 'done' | 'failed' = 'done') {
      if (how === 'done') open.get(toolCallId)?.resolve(`${toolCallId} is done`);
      else open.get(toolCallId)?.reject(new Error(`${toolCallId} failed`));
      await rest();
    },
  };
}

const resultsIn = (log: readonly CapturedEvent[]) =>
  log.flatMap((event) =>
    isEventOf(event, 'agent:tool_result') ? [`${event.data.toolCallId}: ${event.data.output}`] : [],
  );

describe('the tool calls of one message', () => {
  it('are made at the same time up to the limit, and their results are recorded in the order of the calls', async () => {
    const { create, events } = prepare();
    const { open, provider, settle } = gatedTools('look');
    const { root } = await create({
      parallelToolCalls: 2,
      tools: [provider],
      model: answers(several('look', 'look', 'look'), says('Done.')),
    });
    await root.harken('Go');
    const answer = root.response();
    await rest();
    expect([...open.keys()]).toEqual(['c1', 'c2']);
    await settle('c2');
    expect([...open.keys()], 'c2 has no recorded result, so it counts').toEqual(['c1']);
    expect(resultsIn(await events())).toEqual([]);
    await settle('c1');
    expect([...open.keys()]).toEqual(['c3']);
    await settle('c3');
    expect(String(await answer)).toBe('Done.');
    expect(resultsIn(await events())).toEqual(['c1: c1 is done', 'c2: c2 is done', 'c3: c3 is done']);
  });

  it('keep their results where one of them fails', async () => {
    const { create, events } = prepare();
    const { provider, settle } = gatedTools('look');
    const { root } = await create({
      parallelToolCalls: 3,
      tools: [provider],
      model: answers(several('look', 'look', 'look'), says('Done.')),
    });
    await root.harken('Go');
    const answer = root.response();
    await rest();
    await settle('c2', 'failed');
    await settle('c3');
    await settle('c1');
    await answer;
    expect(resultsIn(await events())).toEqual(['c1: c1 is done', 'c2: Error: c2 failed', 'c3: c3 is done']);
  });

  it('are stopped together when the session is closed, and each has a result', async () => {
    const { create, events } = prepare();
    const { open, provider, settle } = gatedTools('look');
    const stop = new AbortController();
    const { root, session } = await create({
      parallelToolCalls: 3,
      tools: [provider],
      signal: stop.signal,
      model: answers(several('look', 'look', 'look')),
    });
    await root.harken('Go');
    const answer = root.response();
    await rest();
    await settle('c2');
    expect([...open.keys()]).toEqual(['c1', 'c3']);
    stop.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await session.close();
    const [first, second, third] = resultsIn(await events());
    expect(second).toBe('c2: c2 is done');
    expect([first, third]).toEqual([
      expect.stringContaining('c1: interrupted'),
      expect.stringContaining('c3: interrupted'),
    ]);
  });

  it('are closed as interrupted after a kill only where they have no result', async () => {
    const killed = failingStore();
    const { create } = prepare(killed.provider);
    const { provider, settle } = gatedTools('look');
    const { root } = await create({
      parallelToolCalls: 3,
      tools: [provider],
      model: answers(several('look', 'look', 'look')),
    });
    await root.harken('Go');
    const answer = root.response();
    answer.catch(() => {});
    await rest();
    await settle('c1');
    killed.breakNow();
    await settle('c2');
    await expect(answer).rejects.toThrow();
    killed.recover();

    const { load, events } = prepare(killed.provider);
    const { root: again, session } = await load({ model: answers(says('I see.')) });
    expect(session.diagnostics).toEqual([]);
    expect(resultsIn(await events())).toEqual([
      'c1: c1 is done',
      expect.stringContaining('c2: interrupted'),
      expect.stringContaining('c3: interrupted'),
    ]);
    expect(again.awaitsResponse).toBe(true);
    expect(String(await again.response())).toBe('I see.');
  });

  it('are known to the hooks that are asked about later ones, until their tools have ended', async () => {
    const { create } = prepare();
    const { provider, settle } = gatedTools('look');
    const asked: string[] = [];
    const { root } = await create({
      parallelToolCalls: 2,
      tools: [
        provider,
        tools({
          task: async (toolCall) => {
            await hostOf(toolCall).createAgent({ name: 'Ann' });
            return (await provider.callTool({ ...toolCall, tool: 'look' })) as ToolOutcome;
          },
        }),
      ],
      hooks: [
        {
          contract: 1,
          name: 'watch',
          decide(question) {
            if (question.on === 'tool_call') {
              const running = question.running.map(({ toolCallId, created }) => `${toolCallId}/${created}`);
              asked.push(`${question.toolCallId}: ${running.join()}`);
            }
            return { decision: 'allow' };
          },
        },
      ],
      model: answers(several('task', 'look', 'look', 'look'), says('Done.')),
    });
    await root.harken('Go');
    const answer = root.response();
    await rest();
    expect(asked).toEqual(['c1: ', 'c2: c1/0']);
    await settle('c1');
    expect(asked.at(-1)).toBe('c3: c2/0');
    await settle('c3');
    await settle('c2');
    expect(asked.at(-1)).toBe('c4: ');
    await settle('c4');
    await answer;
  });

  it('are known to the hooks with the agents that they have created', async () => {
    const { create } = prepare();
    const asked: unknown[] = [];
    const { root } = await create({
      tools: [
        tools({
          look: () => done('a cup'),
          task: async (toolCall) => {
            const host = hostOf(toolCall);
            const ann = await host.createAgent({ name: 'Ann' });
            return done((await host.respond(ann.agentId)).text);
          },
        }),
      ],
      hooks: [
        {
          contract: 1,
          name: 'watch',
          decide(question) {
            if (question.on === 'tool_call') asked.push([question.tool, question.running]);
            return { decision: 'allow' };
          },
        },
      ],
      model: model(({ agentName, turn }) => {
        if (turn > 0) return says('Done.');
        return agentName === null ? several('task') : several('look');
      }),
    });
    await root.harken('Go');
    await root.response();
    expect(asked).toEqual([
      ['task', []],
      ['look', [{ agentId: 'agent_001', toolCallId: 'c1', tool: 'task', created: 1 }]],
    ]);
  });

  it('must have a limit that is a whole number from 1', async () => {
    for (const parallelToolCalls of [0, 1.5, Number.POSITIVE_INFINITY])
      await expect(prepare().create({ parallelToolCalls })).rejects.toMatchObject({
        code: 'SESSION_OPTION_INVALID',
      });
  });
});

describe('an agent that fails when a tool lets it speak', () => {
  /** The root asks a panel of three agents, of whom `failing` have no model. */
  async function panel(failing: readonly string[]) {
    const { create, events } = prepare(createMemoryStore());
    const { root } = await create({
      tools: [
        tools({
          panel: async (toolCall) => {
            const host = hostOf(toolCall);
            const agents = [];
            for (const name of ['Ann', 'Ben', 'Cem']) agents.push(await host.createAgent({ name }));
            const said = await Promise.allSettled(agents.map(({ agentId }) => host.respond(agentId)));
            const texts = said.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
            return done(`${texts.length} spoke`, { madeFrom: texts.map(({ messageId }) => messageId) });
          },
        }),
      ],
      model: model(({ agentName, turn }) => {
        if (agentName === null) return turn === 0 ? several('panel') : says('Thanks.');
        if (failing.includes(agentName)) throw new Error(`${agentName} is overloaded`);
        return says(`I am ${agentName}.`);
      }),
    });
    await root.harken('Ask them.');
    await root.response();
    const log = await events();
    const result = log.find(({ type }) => type === 'agent:tool_result');
    const idOf = (text: string) =>
      log.find(({ data }) => `${data.text ?? data.message}`.includes(text))?.id ?? 'none';
    return { log, result, idOf };
  }

  it('is a cause of the result, beside the utterances of the others', async () => {
    const { log, result, idOf } = await panel(['Ben']);
    const failure = idOf('Ben is overloaded');
    expect(result?.cause).toEqual([idOf('I am Ann.'), idOf('I am Cem.'), failure]);
    const why = causesOf(createLogIndex(log), result?.id ?? '');
    expect(why.map(({ id }) => id)).toContain(failure);
  });

  it('is a cause of the result even if one or none of the others spoke', async () => {
    const one = await panel(['Ben', 'Cem']);
    expect(one.result?.substance).toBeUndefined();
    expect([one.result?.cause].flat().toSorted()).toEqual(
      ['I am Ann.', 'Ben is overloaded', 'Cem is overloaded'].map(one.idOf).toSorted(),
    );
    const none = await panel(['Ann', 'Ben', 'Cem']);
    expect(none.result?.cause).toHaveLength(3);
  });
});
