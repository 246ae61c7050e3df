import type * as SessionModule from '@hansard/session';
import { importMutated } from '@hansard/testing/mutants';
import { expect, it } from 'vitest';
import { prepare, taskDir } from './prepare.ts';
import { model, says } from './scripted.ts';

type Mutation = readonly [file: string, piece: string, instead: string];

const home = new URL('..', import.meta.url).pathname;
const code = (error: { code?: string }) => error.code;

/** What is wrong with the budgets and retries of a session, after a load, and in its fork. Empty: nothing. */
async function faultsOf({ openSession }: typeof SessionModule): Promise<string[]> {
  const { store } = prepare();
  const failing = { isFirst: true };
  const provider = model(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    if (failing.isFirst) {
      failing.isFirst = false;
      throw Object.assign(new Error('busy'), { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 });
    }
    return says('Hm.', { costUsd: 1 });
  });
  const peers = ['A', 'B', 'C', 'D'].map((name) => ({ name }));
  const budgets = { session: { calls: 5, costUsd: 4.5 }, agents: { A: { calls: 2 } }, warnAt: 0.6 };
  const modelRetries = { attempts: 2, delayMs: 0 };
  const options = { store, taskDir, model: provider, budgets, modelRetries };
  const session = await openSession({ ...options, peers });
  const ask = async ({ peers: all }: SessionModule.Session, who: readonly number[]) => {
    for (const index of who) await all[index]?.harken('Well?');
    return (await Promise.all(who.map((index) => all[index]?.response().then(String, code)))).join();
  };
  const first = await ask(session, [0]);
  const own = await ask(session, [0]);
  const parallel = await ask(session, [1, 2, 3, 1].slice(0, 3));
  const after = await ask(session, [2]);
  const { dispatchId } = session;
  const fork = await session.fork();
  const inFork = await ask(fork, [3]);
  await fork.close();
  await session.close();
  const again = await openSession({ ...options, dispatchId, expect: 'existing' });
  const loaded = await ask(again, [1]);
  await again.close();
  const log = await store.getDispatchEvents(taskDir, dispatchId);
  const reached = log.flatMap(({ type, data }) =>
    type === 'harness:budget_reached' ? [`${data.scope} ${data.what} ${data.isSpent}`] : [],
  );
  const spent = 'SESSION_BUDGET_SPENT';
  const faults: Readonly<Record<string, boolean>> = {
    first: first !== 'Hm.',
    own: own !== spent,
    parallel: parallel !== 'Hm.,Hm.,Hm.',
    after: after !== spent,
    fork: inFork !== 'Hm.',
    loaded: loaded !== spent,
    retried: log.filter(({ type }) => type === 'harness:model_retried').length !== 1,
    paid: log.filter(({ type }) => type === 'agent:inference').length !== 5,
    warned: reached.filter((line) => line.startsWith('session') && line.endsWith('false')).length !== 2,
    recorded: reached.filter((line) => line.endsWith('true')).length !== 3,
  };
  return Object.entries(faults).flatMap(([name, isThere]) => (isThere ? [name] : []));
}

const file = 'turn/budgets.ts';
const unbroken: Mutation = [file, 'used.underWay += 1;', 'used.underWay += 1;'];
const mutations: readonly (readonly [what: string, mutation: Mutation])[] = [
  ['the unbroken session', unbroken],
  ['counts nothing', [file, 'used[what] += more[what];', '{}']],
  ['counts what a fork repeats', [file, 'if (registry.isRepeating) return;', '']],
  ['never ends a call', [file, 'for (const used of counted) used.underWay -= 1;', '']],
  ['allows one call more', [file, 'return soFar >= limit;', 'return soFar > limit;']],
  [
    'has no budgets of agents',
    [file, 'agents[agentId] ?? (name === null ? undefined : agents[name]) ?? eachAgent', 'eachAgent'],
  ],
  ['warns again and again', [file, 'this.#warned.add(keyOf(agentId, event.data));', '{}']],
  ['never warns', [file, 'used[what] < limit * warnAt ||', 'true ||']],
  [
    'refuses without a record',
    [
      file,
      "if (log.isOpen) void log.append([newEvent('harness:budget_reached', reached, { id, agentId })]);",
      '',
    ],
  ],
  [
    'forgets the log at a load',
    [
      'session-parts.ts',
      'onRestored: (event, position) => {\n      budgets.observe(event);',
      'onRestored: (event, position) => {',
    ],
  ],
  [
    'repeats unseen',
    ['turn/ask-model.ts', "...paid, newEvent('harness:model_retried', data, { agentId })", '...paid'],
  ],
  [
    'repeats for nothing',
    ['turn/ask-model.ts', "...paid, newEvent('harness:model_retried'", "newEvent('harness:model_retried'"],
  ],
];

it.each(mutations)('%s is noticed', async (_, mutation) => {
  const mutant = (await importMutated(home, mutation, 'index.ts')) as typeof SessionModule;
  const faults = await faultsOf(mutant);
  if (mutation === unbroken) expect(faults).toEqual([]);
  else expect(faults).not.toEqual([]);
});
