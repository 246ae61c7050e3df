import assert from 'node:assert/strict';
import { freezeDeep } from '@hansard/events/plain';
import { requiredMethods } from '@hansard/provider';
import { ConformanceKit, caseFamily } from '../conformance-case.ts';
import { expectClosesTwice, expectContract, letPass, settles } from '../expectations.ts';
import {
  type CommunicationFixture,
  type CommunicationScenario,
  KitDispatch,
  KitHost,
  KitHub,
  kitTask,
  needed,
} from './communication-run.ts';

const communicationCases = caseFamily<CommunicationScenario, CommunicationFixture>('communication', [
  {
    name: 'contract',
    title: 'has the version of this contract, and the method that it needs',
    run: ({ provider }) =>
      expectContract(provider, 'CommunicationProvider', requiredMethods.CommunicationProvider),
  },
  {
    name: 'notices',
    title: 'takes every notice of two dispatches, one after the other',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      for (const id of ['K1', 'K2']) await hub.play(new KitDispatch(id));
    },
  },
  {
    name: 'dispatches-at-once',
    title: 'takes the notices of dispatches that run at the same time',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      const [one, other] = [new KitDispatch('K1'), new KitDispatch('K2')];
      for (const dispatch of [one, other]) await hub.began(dispatch);
      for (const position of one.events.keys())
        for (const dispatch of [other, one]) await hub.event(dispatch, position);
      for (const dispatch of [one, other]) await hub.ended(dispatch);
    },
  },
  {
    name: 'dropped-notices',
    title: 'continues after notices that the hub dropped: a start, events and deltas',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      const [whole, late] = [new KitDispatch('K1'), new KitDispatch('K2')];
      await fixture.record?.(kitTask, late.running, late.events);
      await hub.event(late, 2);
      await hub.ended(late);
      await hub.began(whole);
      await hub.event(whole, 0);
      await hub.event(whole, 2);
      await hub.ended(whole);
    },
  },
  {
    name: 'unknown-events',
    title: 'takes events, agents and deltas of kinds that it does not know',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      const dispatch = new KitDispatch('K1');
      await hub.began(dispatch);
      const envelope = dispatch.running;
      const event = { ...dispatch.events[0], id: 'own', type: 'conformance:unknown', data: { deep: [null] } };
      await hub.call('eventRecorded', () =>
        hub.provider.eventRecorded({ taskDir: kitTask, envelope, event: event as never, position: 0 }),
      );
      const delta = { type: 'delta:conformance_unknown', text: 'Wor', agentId: 'agent_009' } as never;
      await hub.call('deltaReceived', () =>
        hub.provider.deltaReceived?.({ taskDir: kitTask, envelope, delta }),
      );
      await hub.ended(dispatch);
    },
  },
  {
    name: 'notices-kept',
    title: 'leaves the notices as they are, because all providers receive the same objects',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      const { running, ended, events } = new KitDispatch('K1');
      await fixture.record?.(kitTask, running, events);
      const start = freezeDeep({ taskDir: kitTask, envelope: structuredClone(running), agents: [] });
      await hub.call('dispatchStarted of a frozen notice', () => hub.provider.dispatchStarted?.(start));
      for (const [position, event] of events.entries()) {
        const notice = freezeDeep({ taskDir: kitTask, envelope: start.envelope, event, position });
        await hub.call('eventRecorded of a frozen notice', () => hub.provider.eventRecorded(notice));
      }
      const end = freezeDeep({ taskDir: kitTask, envelope: structuredClone(ended) });
      await hub.call('dispatchEnded of a frozen notice', () => hub.provider.dispatchEnded?.(end));
    },
  },
  {
    name: 'shows-in-order',
    scenario: 'shows',
    title: 'shows what an agent says, each text once and in the order of the log',
    async run(fixture, patienceMs) {
      const shown = needed(fixture.shown, 'shown');
      const hub = await KitHub.started(fixture, patienceMs);
      const texts = ['Alpha speaks.', 'Beta speaks.', 'Gamma speaks.'];
      const dispatch = new KitDispatch('K1', texts);
      await hub.began(dispatch);
      for (const position of texts.keys()) await hub.event(dispatch, position);
      await hub.ended(dispatch);
      const all = await shown();
      const found = [...all.matchAll(/(Alpha|Beta|Gamma) speaks\./g)].map(([text]) => text);
      assert.deepEqual(found, texts, 'the texts that people were shown');
    },
  },
  {
    name: 'delivers-once',
    scenario: 'delivers',
    title: 'delivers each message of a person once, in the order in which they are written',
    async run(fixture, patienceMs) {
      const write = needed(fixture.write, 'write');
      const hub = await KitHub.started(fixture, patienceMs);
      const dispatch = new KitDispatch('K1');
      await hub.began(dispatch);
      const { delivered } = hub.host;
      const texts = ['Where are you?', 'Stop at the next lamp.'];
      for (const [index, text] of texts.entries()) {
        await hub.person(() => write(text));
        await hub.until('the message was not delivered', () => delivered.length > index);
      }
      await letPass();
      assert.deepEqual(
        delivered.map(({ text }) => text),
        texts,
        'the messages that the host was given',
      );
      const others = delivered.filter(({ dispatchId = 'K1' }) => dispatchId !== 'K1');
      assert.deepEqual(others, [], 'messages to a dispatch that does not run');
      await hub.ended(dispatch);
    },
  },
  {
    name: 'host-refuses',
    scenario: 'delivers',
    title: 'continues when the host takes no message, or fails',
    async run(fixture, patienceMs) {
      const write = needed(fixture.write, 'write');
      const hub = await KitHub.started(fixture, patienceMs);
      const dispatch = new KitDispatch('K1');
      await hub.began(dispatch);
      const answers = [() => false, () => Promise.reject(new Error('the host refuses')), () => true];
      for (const [index, answer] of answers.entries()) {
        hub.host.answer = answer;
        await hub.person(() => write(`Message ${index}.`));
        await hub.until('no message came after a refusal', () => hub.host.delivered.length > index);
        await hub.event(dispatch, index);
      }
      await hub.ended(dispatch);
    },
  },
  {
    name: 'silent-after-close',
    scenario: 'delivers',
    title: 'delivers nothing after it was closed',
    async run(fixture, patienceMs) {
      const write = needed(fixture.write, 'write');
      const hub = await KitHub.started(fixture, patienceMs);
      await hub.play(new KitDispatch('K1'));
      await hub.close();
      await hub.person(() => write('Too late.'));
      await letPass();
      assert.deepEqual(hub.host.delivered, [], 'the messages after close');
    },
  },
  {
    name: 'aborts-one',
    scenario: 'aborts',
    title: 'stops the dispatch that the person means, once, and no other',
    async run(fixture, patienceMs) {
      const stop = needed(fixture.stop, 'stop');
      const hub = await KitHub.started(fixture, patienceMs);
      const dispatches = ['K1', 'K2'].map((id) => new KitDispatch(id));
      for (const dispatch of dispatches) await hub.began(dispatch);
      await hub.person(stop);
      await hub.until('the host received no stop', () => hub.host.aborted.length > 0);
      await letPass();
      assert.deepEqual(hub.host.aborted, ['K2'], 'the dispatches that were stopped');
      for (const dispatch of dispatches) await hub.ended(dispatch);
    },
  },
  {
    name: 'starts-tasks',
    scenario: 'startsTasks',
    title: 'begins the task that a person asks for, and continues when the host refuses',
    async run(fixture, patienceMs) {
      const begin = needed(fixture.begin, 'begin');
      const hub = await KitHub.started(fixture, patienceMs);
      for (const [index, prompt] of ['Light the lamps.', 'Put them out.'].entries()) {
        await hub.person(() => begin(prompt));
        await hub.until('the host was not asked for the task', () => hub.host.begun.length > index);
        assert.equal(hub.host.begun[index]?.prompt, prompt, 'the prompt of the task');
        hub.host.answer = () => Promise.reject(new Error('the host refuses'));
      }
      await hub.play(new KitDispatch('K1'));
    },
  },
  {
    name: 'host-without-store',
    title: 'starts with a host that gives no store, or fails at once, and can then be closed',
    async run(fixture, patienceMs) {
      const hub = new KitHub(fixture, patienceMs);
      await settles('start', patienceMs, () => hub.provider.start?.(new KitHost()));
      await hub.close();
    },
  },
  {
    name: 'close-unstarted',
    title: 'can be closed before it is started',
    run: (fixture, patienceMs) => new KitHub(fixture, patienceMs).close(),
  },
  {
    name: 'close-while-running',
    title: 'can be closed while a dispatch runs, whose store has failed',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      const dispatch = new KitDispatch('K1');
      await hub.began(dispatch);
      await hub.event(dispatch, 0);
      await hub.delta(dispatch, 'Wor');
      await hub.close();
    },
  },
  {
    name: 'close-twice',
    title: 'can be closed twice',
    async run(fixture, patienceMs) {
      const hub = await KitHub.started(fixture, patienceMs);
      await hub.play(new KitDispatch('K1'));
      await expectClosesTwice(hub.provider, patienceMs);
    },
  },
]);

/** The cases for a `CommunicationProvider`. */
export const communicationConformance = new ConformanceKit(communicationCases);
