import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { find, prepare } from './prepare.ts';
import { calls, done, hostOf, model, says, tools } from './scripted.ts';

const dear = model(() => says('Hm.', { costUsd: 0.5 }));
const outcome = (work: Promise<unknown>) => work.then(String, (error: { code?: string }) => error.code);
const spent = { code: 'SESSION_BUDGET_SPENT' };

describe('a budget of a session', () => {
  it('is warned of once and ends with a code; the call that crosses it is kept, and the question stays open', async () => {
    const { create, load, events } = prepare();
    const budgets = { session: { costUsd: 1.2 } };
    const { session, root } = await create({ model: dear, budgets });
    for (const question of ['One?', 'Two?', 'Three?']) {
      await root.harken(question);
      await root.response();
    }
    await root.harken('Four?');
    await expect(root.response()).rejects.toMatchObject({
      ...spent,
      details: { agentId: root.agentId, scope: 'session', what: 'costUsd', limit: 1.2, spent: 1.5 },
    });
    expect(root.awaitsResponse).toBe(true);
    const reached = (await events()).filter(({ type }) => type === 'harness:budget_reached');
    expect(reached.map(({ data }) => [data.spent, data.isSpent])).toEqual([
      [1, false],
      [1.5, true],
    ]);
    await session.close();

    const again = await load({ model: dear, budgets });
    await expect(again.root.response()).rejects.toMatchObject(spent);
    await again.session.close();
    const raised = await load({ model: dear, budgets: { session: { costUsd: 3 } } });
    expect(String(await raised.root.response())).toBe('Hm.');
    const warnings = (await events()).filter(({ data }) => data.isSpent === false && data.limit === 1.2);
    expect(warnings).toHaveLength(1);
    expect(find(await events(), 'session:complete')).toBeDefined();
    await raised.session.close();
  });

  it('begins anew in a fork, and what was used counts when the fork is loaded', async () => {
    const { create, open } = prepare();
    const budgets = { session: { calls: 2 } };
    const { session, root } = await create({ model: dear, budgets });
    for (const question of ['One?', 'Two?']) {
      await root.harken(question);
      await root.response();
    }
    const fork = await session.fork({ dispatchId: 'F1' });
    await fork.root.harken('Three?');
    expect(String(await fork.root.response())).toBe('Hm.');
    await fork.close();
    const again = await open({ dispatchId: 'F1', expect: 'existing', model: dear, budgets });
    const said: (string | undefined)[] = [];
    for (const question of ['Four?', 'Five?']) {
      await again.root.harken(question);
      said.push(await outcome(again.root.response()));
    }
    expect(said).toEqual(['Hm.', 'SESSION_BUDGET_SPENT']);
    await again.close();
    await session.close();
  });

  it('of calls is never exceeded by parallel agents, and one of dollars by the calls under way alone, each of which counts', async () => {
    for (const [budget, answered] of [
      [{ calls: 3 }, 3],
      [{ costUsd: 0.4 }, 5],
    ] as const) {
      const { open, events } = prepare();
      let open5 = () => {};
      const gate = new Promise<void>((resolve) => {
        open5 = resolve;
      });
      const provider = model(async () => {
        await gate;
        return says('Hm.', { costUsd: 0.3 });
      });
      const peers = ['A', 'B', 'C', 'D', 'E'].map((name) => ({ name }));
      const session = await open({ model: provider, peers, budgets: { session: budget } });
      for (const peer of session.peers) await peer.harken('Well?');
      const outcomes = Promise.all(session.peers.map((peer) => outcome(peer.response())));
      await new Promise((resolve) => setImmediate(resolve));
      open5();
      const said = await outcomes;
      expect(said.filter((text) => text === 'Hm.')).toHaveLength(answered);
      expect(said.filter((text) => text === 'SESSION_BUDGET_SPENT')).toHaveLength(5 - answered);
      const [first] = session.peers;
      await first?.harken('And now?');
      expect(first && (await outcome(first.response()))).toBe('SESSION_BUDGET_SPENT');
      await session.close();
      const complete = find(await events(), 'session:complete');
      expect(complete.data).toMatchObject({ turns: answered, costUsd: expect.closeTo(answered * 0.3) });
    }
  });

  it('counts the time of models and tools', async () => {
    const clock = new ManualClock();
    const { create } = prepare();
    const { session, root } = await create({
      clock,
      model: model(({ turn }) => {
        clock.advance(400);
        return turn === 0 ? calls('wait') : says('Hm.');
      }),
      tools: [
        tools({
          wait: () => {
            clock.advance(700);
            return done('ok');
          },
        }),
      ],
      budgets: { session: { timeMs: 1_000 } },
    });
    await root.harken('Wait.');
    await expect(root.response()).rejects.toMatchObject({ details: { what: 'timeMs', spent: 1_100 } });
    await session.close();
  });

  it('limits how many agents calls create, and how deep', async () => {
    const { create, events } = prepare();
    const spawn = tools({
      spawn: async (call) => {
        const host = hostOf(call);
        const { agentId } = await host.createAgent({ name: 'Sub' });
        await host.deliver(agentId, { text: 'Go.' });
        return done(`${await host.respond(agentId)}`);
      },
    });
    const { session, root } = await create({
      tools: [spawn],
      model: model(({ turn, messages }) => (turn === 0 ? calls('spawn') : says(messages.at(-1)?.text ?? ''))),
      budgets: { session: { depth: 2 } },
    });
    await root.harken('Deeper.');
    expect(String(await root.response())).toContain('2 of 2 levels of agents');
    expect(find(await events(), 'harness:budget_reached').data).toMatchObject({
      what: 'depth',
      isSpent: true,
    });
    await session.close();

    const other = prepare();
    const made = await other.create({
      tools: [spawn],
      model: model(({ turn, agentName }) =>
        agentName === 'Sub' ? says('Here.') : turn < 3 ? calls('spawn', {}, `call_${turn}`) : says('Enough.'),
      ),
      budgets: { session: { agents: 2 } },
    });
    await made.root.harken('More.');
    await made.root.response();
    expect(made.session.listAgents()).toHaveLength(3);
    await made.session.close();
  });
});

describe('a budget of an agent', () => {
  it('is that of its name, or that of each agent, and leaves the others alone', async () => {
    const { open } = prepare();
    const peers = ['Ann', 'Ben', 'Cleo'].map((name) => ({ name }));
    const budgets = { eachAgent: { calls: 1 }, agents: { Ben: { tokens: 24 }, Cleo: {} } };
    const session = await open({ model: dear, peers, budgets });
    const said: Record<string, (string | undefined)[]> = {};
    for (const round of [1, 2, 3])
      for (const peer of session.peers) {
        await peer.harken(`Round ${round}`);
        const list = said[peer.name ?? ''] ?? [];
        said[peer.name ?? ''] = [...list, await outcome(peer.response())];
      }
    const no = 'SESSION_BUDGET_SPENT';
    expect(said).toEqual({ Ann: ['Hm.', no, no], Ben: ['Hm.', 'Hm.', no], Cleo: ['Hm.', 'Hm.', 'Hm.'] });
    await session.close();
  });
});

describe('a model call that fails', () => {
  const busy = Object.assign(new Error('busy'), {
    usage: { inputTokens: 5, outputTokens: 0 },
    costUsd: 0.25,
  });

  it('is repeated, each attempt is in the log with its cost, and the waits grow', async () => {
    const clock = new ManualClock();
    const { create, events } = prepare();
    const waits: number[] = [];
    const after = clock.after.bind(clock);
    clock.after = (ms, run) => {
      waits.push(ms);
      return after(0, run);
    };
    let attempts = 0;
    const provider = model(({ onDelta }) => {
      attempts += 1;
      onDelta?.({ type: 'delta:text', text: `try ${attempts}` });
      if (attempts === 1) throw busy;
      if (attempts === 2) return { text: 'no list', toolCalls: 'none' as never, costUsd: 0.5 };
      return says('Here.', { costUsd: 1 });
    });
    const { session, root } = await create({ model: provider, clock, modelRetries: { delayMs: 100 } });
    await root.harken('Where?');
    const said = root.response();
    const tick = setInterval(() => clock.advance(1), 1);
    expect(String(await said)).toBe('Here.');
    clearInterval(tick);
    await session.close();
    const log = await events();
    expect(waits.filter((ms) => ms === 100 || ms === 200)).toEqual([100, 200]);
    expect(
      log.flatMap(({ type, data }) =>
        type === 'harness:model_retried' ? [[data.attempt, data.delayMs]] : [],
      ),
    ).toEqual([
      [1, 100],
      [2, 200],
    ]);
    expect(log.filter(({ type }) => type === 'agent:inference').map(({ data }) => data.costUsd)).toEqual([
      0.25, 0.5, 1,
    ]);
    expect(find(log, 'session:complete').data).toMatchObject({ costUsd: 1.75 });
    expect(log.filter(({ type }) => type === 'agent:text')).toHaveLength(1);
  });

  it('is given to another model, and the next call begins with the own model', async () => {
    const { create, events } = prepare();
    const asked: (string | null)[] = [];
    const provider = model((request) => {
      asked.push(request.model);
      if (request.model === 'large') throw busy;
      return says('Here.', { model: 'small' });
    });
    const { session, root } = await create({
      model: provider,
      languageModel: 'large',
      modelRetries: { attempts: 2, delayMs: 0, fallback: ['small'] },
    });
    for (const question of ['One?', 'Two?']) {
      await root.harken(question);
      expect(String(await root.response())).toBe('Here.');
    }
    expect(asked).toEqual(['large', 'large', 'small', 'large', 'large', 'small']);
    expect(find(await events(), 'harness:model_retried', { next: 'small' }).data.attempt).toBe(2);
    await session.close();
  });

  it('is not repeated without need: after the last attempt, an error that no attempt helps, a stop or a spent budget', async () => {
    const run = async (options: Parameters<ReturnType<typeof prepare>['create']>[0]) => {
      const { create, events } = prepare();
      let asked = 0;
      const provider = model(() => {
        asked += 1;
        throw busy;
      });
      const { session, root } = await create({ model: provider, ...options });
      await root.harken('Where?');
      const said = outcome(root.response());
      if (options?.clock !== undefined) {
        await expect.poll(() => asked).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        root.stop();
      }
      const code = await said;
      await session.close();
      return [code, asked, (await events()).filter(({ type }) => type === 'agent:inference').length];
    };
    const modelRetries = { attempts: 2, delayMs: 0 };
    expect(await run({})).toEqual(['SESSION_MODEL_FAILED', 1, 1]);
    expect(await run({ modelRetries })).toEqual(['SESSION_MODEL_FAILED', 2, 2]);
    const isRetryable = (error: unknown) => error !== busy;
    expect(await run({ modelRetries: { ...modelRetries, isRetryable } })).toEqual([
      'SESSION_MODEL_FAILED',
      1,
      1,
    ]);
    expect(await run({ modelRetries: {}, clock: new ManualClock() })).toEqual([
      'SESSION_AGENT_STOPPED',
      1,
      1,
    ]);
    const budgets = { session: { calls: 1 } };
    expect(await run({ modelRetries, budgets })).toEqual(['SESSION_BUDGET_SPENT', 1, 1]);
  });
});
