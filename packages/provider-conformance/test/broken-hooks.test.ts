import type { HookDecision, HookProvider } from '@hansard/provider';
import { expect, it } from 'vitest';
import {
  type HookFixture,
  type HookScenario,
  hookConformance,
  type ProviderUnderTest,
} from '../src/index.ts';
import { patienceMs } from './good-providers.ts';

/** A hook that keeps the contract: it denies the tool of the kit, and informs the agent that received a message. */
function goodHook(changes: Partial<HookProvider> = {}): HookProvider {
  return {
    contract: 1,
    name: 'Good',
    decide: ({ on }) => (on === 'tool_call' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' }),
    async observe({ what, event }, host) {
      if (what === 'message') await host.inform(event.agentId, 'Hello.');
    },
    close: () => {},
    ...changes,
  };
}

const hookUnderTest = (open: () => HookProvider): ProviderUnderTest<HookScenario, HookFixture> => ({
  scenarios: ['decides', 'observes'],
  patienceMs,
  create: () => ({ provider: open() }),
});

const denial: HookDecision = { decision: 'deny', reason: 'no' };

const faults: ReadonlyArray<readonly [fault: string, caseId: string, open: () => HookProvider]> = [
  ['has no version', 'contract', () => goodHook({ contract: undefined as never })],
  [
    'denies without a reason',
    'decision-shape',
    () =>
      goodHook({
        decide: ({ on }) => (on === 'tool_call' ? ({ decision: 'deny' } as never) : { decision: 'allow' }),
      }),
  ],
  ['denies what it does not know', 'unknown-question', () => goodHook({ decide: () => denial })],
  [
    'rejects an answer without a reason',
    'each-kind-of-question',
    () =>
      goodHook({
        decidesOn: ['tool_call', 'utterance'],
        decide: ({ on }) =>
          on === 'utterance'
            ? ({ decision: 'retry' } as never)
            : on === 'tool_call'
              ? denial
              : { decision: 'allow' },
      }),
  ],
  [
    'wants to be asked what nobody asks',
    'each-kind-of-question',
    () => goodHook({ decidesOn: ['tool_call', 'utterances' as never] }),
  ],
  [
    'decides about one question at a time',
    'decisions-at-once',
    () => {
      let isBusy = false;
      return goodHook({
        async decide({ on }) {
          if (isBusy) throw new Error('busy');
          isBusy = true;
          await Promise.resolve();
          isBusy = false;
          return on === 'tool_call' ? denial : { decision: 'allow' };
        },
      });
    },
  ],
  [
    'changes its decision later',
    'decision-kept',
    () =>
      goodHook({
        decide({ on }) {
          if (on !== 'tool_call') return { decision: 'allow' };
          const decision = { ...denial };
          setImmediate(() => Object.assign(decision, { reason: 'changed' }));
          return decision;
        },
      }),
  ],
  [
    'needs agents to decide',
    'decides-in-a-run',
    () =>
      goodHook({
        decide({ on }, { agents }) {
          if (agents === undefined) throw new Error('no agents');
          return on === 'tool_call' ? denial : { decision: 'allow' };
        },
      }),
  ],
  [
    'fails for what it does not know',
    'observes-each-kind',
    () =>
      goodHook({
        observe({ what }, { agents }) {
          if (agents !== undefined && what.includes('unknown')) throw new Error(`what is ${what}?`);
        },
      }),
  ],
  [
    'needs agents to observe',
    'observes-in-a-run',
    () =>
      goodHook({
        observe(_observation, { agents }) {
          if (agents === undefined) throw new Error('no agents');
        },
      }),
  ],
  [
    'informs an agent too late',
    'awaits-what-it-does',
    () => goodHook({ observe: (_observation, host) => void setImmediate(() => host.inform(null, 'Late.')) }),
  ],
  [
    'hangs when it is closed a second time',
    'close-twice',
    () => {
      const closes = [() => {}, () => new Promise<never>(() => {}), () => {}][Symbol.iterator]();
      return goodHook({ close: () => closes.next().value?.() });
    },
  ],
];

it('a hook that keeps the contract passes every case', async () => {
  const results = await hookConformance.run(hookUnderTest(goodHook));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
});

it.each(faults)('a hook that %s fails exactly the case %s', async (_, caseId, open) => {
  const results = await hookConformance.run(hookUnderTest(open));
  expect(results.filter(({ error }) => error !== null).map(({ id }) => id)).toEqual([`hooks/${caseId}`]);
});

it('every case for a hook has a fault that it names', () => {
  const ids = hookConformance.cases.map(({ id }) => id);
  expect(new Set(faults.map(([, caseId]) => `hooks/${caseId}`))).toEqual(new Set(ids));
});
