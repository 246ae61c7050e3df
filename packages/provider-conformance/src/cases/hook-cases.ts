import assert from 'node:assert/strict';
import { caseFamily } from '../conformance-case.ts';
import {
  expectClosesTwice,
  expectContract,
  expectText,
  expectUnchanged,
  letPass,
  preview,
} from '../expectations.ts';
import {
  CountingHost,
  decide,
  everyObservation,
  expectDecision,
  type HookFixture,
  type HookScenario,
  observe,
  unknownObservation,
  unknownQuestion,
} from './hook-run.ts';

export const hookCases = caseFamily<HookScenario, HookFixture>('hooks', [
  {
    name: 'contract',
    title: 'names the version of the contract, has a name, and decides or observes',
    run({ provider }) {
      expectContract(provider, 'HookProvider', []);
      expectText(provider.name, 'the name');
      if (provider.decide === undefined && provider.observe === undefined)
        assert.fail('it has neither decide nor observe');
    },
  },
  {
    name: 'decision-shape',
    scenario: 'decides',
    title: 'decides with allow, deny and a reason, or alter and what it made',
    run: async (fixture, patienceMs) => expectDecision(await decide(fixture, patienceMs), fixture.question),
  },
  {
    name: 'unknown-question',
    scenario: 'decides',
    title: 'allows a question of a kind that it does not know',
    async run(fixture, patienceMs) {
      const { decision } = await decide(fixture, patienceMs, { question: unknownQuestion() });
      if (decision !== 'allow') assert.fail(`the decision is ${preview(decision)}, expected allow`);
    },
  },
  {
    name: 'decisions-at-once',
    scenario: 'decides',
    title: 'decides about several questions at the same time',
    async run(fixture, patienceMs) {
      const decisions = await Promise.all([1, 2, 3].map(() => decide(fixture, patienceMs)));
      for (const decision of decisions) assert.ok(decision !== undefined, 'a question had no decision');
    },
  },
  {
    name: 'decision-kept',
    scenario: 'decides',
    title: 'leaves a decision unchanged after it was given',
    async run(fixture, patienceMs) {
      const decision = await decide(fixture, patienceMs);
      const before = structuredClone(decision);
      await letPass();
      expectUnchanged(decision, before, 'the decision');
    },
  },
  {
    name: 'decides-in-a-run',
    scenario: 'decides',
    title: 'decides where the host has no agents, as in the run of an engine',
    async run(fixture, patienceMs) {
      await decide(fixture, patienceMs, { hasAgents: false });
    },
  },
  {
    name: 'observes-each-kind',
    scenario: 'observes',
    title: 'observes each kind of event, and ignores a kind that it does not know',
    async run(fixture, patienceMs) {
      for (const observation of [...everyObservation(), unknownObservation()])
        await observe(fixture, patienceMs, observation, new CountingHost(fixture, true).host);
    },
  },
  {
    name: 'observes-in-a-run',
    scenario: 'observes',
    title: 'observes where the host has no agents, as in the run of an engine',
    async run(fixture, patienceMs) {
      for (const observation of everyObservation())
        await observe(fixture, patienceMs, observation, new CountingHost(fixture, false).host);
    },
  },
  {
    name: 'awaits-what-it-does',
    scenario: 'observes',
    title: 'uses its host only until its observation is over',
    async run(fixture, patienceMs) {
      for (const observation of everyObservation()) {
        const counting = new CountingHost(fixture, true);
        await observe(fixture, patienceMs, observation, counting.host);
        counting.end();
        await letPass();
        if (counting.late > 0)
          assert.fail(`it used the host after its observation of a ${observation.what} was over`);
      }
    },
  },
  {
    name: 'close-twice',
    title: 'can be closed twice',
    run: ({ provider }, patienceMs) => expectClosesTwice(provider, patienceMs),
  },
]);
