import { createCommunicationHub, openDispatchStore, runDispatch } from '@hansard/dispatch';
import type { CapturedEvent, NewEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import {
  appendEvent,
  appendEvents,
  createDispatch,
  narrativeCanaries,
  updateDispatch,
} from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate } from '../support/gate.ts';
import { agent, event } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';
const secret = (place: string) => `CANARY_${place}_CANARY`;
const call = { toolCallId: 'c1', tool: 'Read', target: 'a.ts', metadata: { path: 'a.ts' } };

/** One event of each type that has something private, under an id of its own, so that it can be appended again. */
const events: readonly NewEvent[] = [
  { type: 'agent:tool_call', data: { ...call, input: { command: secret('input') } } },
  {
    type: 'agent:tool_result',
    data: {
      ...call,
      status: 'error',
      durationMs: 3,
      error: `It failed.\n${secret('error_line')}`,
      output: [{ type: 'text', text: secret('output') }],
      details: { deep: [{ stdout: secret('detail') }] },
    },
  },
  {
    type: 'agent:output',
    data: { parts: [{ kind: 'text', text: `${'- '.repeat(1_000)}${secret('observed')}` }] },
  },
  {
    type: 'harness:hook_decision',
    data: { hook: 'h', on: 'tool_call', decision: 'alter', input: secret('altered') },
  },
  {
    type: 'harness:hook_decision',
    data: { hook: 'h', on: 'tool_result', decision: 'alter', given: secret('given'), text: secret('made') },
  },
  {
    type: 'system:hook_response',
    data: { hook_name: 'Stop', stdout: secret('stdout'), stderr: secret('stderr'), output: secret('hook') },
  },
  { type: 'system:notice', data: { problem: 'not JSON', line: 3, raw: secret('raw') } },
].map((made, at) => ({
  ...made,
  id: `E${at}`,
  timestamp: '2026-03-01T09:30:00.000Z',
})) as readonly NewEvent[];

const secrets = JSON.stringify(events).match(/CANARY_[a-z_]+_CANARY/g) ?? [];
const secretsIn = (value: unknown) => secrets.filter((word) => JSON.stringify(value).includes(word));

async function dispatched(provider: DispatchStoreProvider, fidelity: 'narrative' | 'full') {
  const { dispatchId } = await createDispatch(openDispatchStore(provider), taskDir, { role: 'r', fidelity });
  return dispatchId;
}

const ways: Readonly<
  Record<string, (provider: DispatchStoreProvider, fidelity: 'narrative' | 'full') => Promise<string>>
> = {
  'one at a time': async (provider, fidelity) => {
    const store = openDispatchStore(provider);
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'r', fidelity });
    for (const one of events) await appendEvent(store, taskDir, dispatchId, one);
    return dispatchId;
  },
  'by the object that began it': async (provider, fidelity) => {
    const dispatch = await openDispatchStore(provider).beginDispatch(taskDir, { role: 'r', fidelity });
    for (const one of events.slice(0, 2)) await dispatch.append(one);
    await dispatch.append(dispatch.check(events.slice(2, 4)));
    await dispatch.accept(events.slice(4)).recorded;
    return dispatch.dispatchId;
  },
  'all at once': async (provider, fidelity) => {
    const store = openDispatchStore(provider);
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'r', fidelity });
    await appendEvents(store, taskDir, dispatchId, events);
    return dispatchId;
  },
  'to a dispatch that another process created': async (provider, fidelity) => {
    const dispatchId = await dispatched(provider, fidelity);
    const store = openDispatchStore(provider);
    await appendEvents(store, taskDir, dispatchId, events.slice(0, 2));
    for (const one of events.slice(2)) await appendEvent(store, taskDir, dispatchId, one);
    return dispatchId;
  },
  'by the run of an agent': async (provider, fidelity) => {
    const runner = agent(async function* () {
      for (const one of events) yield event(one.type as never, one.data as never);
    });
    const store = openDispatchStore(provider);
    return (await runDispatch({ store, taskDir, agent: runner, role: 'r', fidelity })).dispatchId;
  },
};

describe('the input and output of tools', () => {
  it.each(Object.keys(ways))('is not in the log of a narrative dispatch, recorded %s', async (way) => {
    const provider = createMemoryStore();
    const dispatchId = (await ways[way]?.(provider, 'narrative')) ?? '';
    const stored = await provider.getDispatchEvents(taskDir, dispatchId);
    expect(stored).toHaveLength(events.length);
    expect(secretsIn(stored)).toEqual([]);
    expect(stored[1]?.data).toEqual({
      ...call,
      status: 'error',
      durationMs: 3,
      error: 'It failed.',
      details: { deep: [{}] },
      leftOut: { error: 25, output: 47, stdout: 20 },
    });
  });

  it.each(Object.keys(ways))('is in the log of a full dispatch, recorded %s', async (way) => {
    const provider = createMemoryStore();
    const dispatchId = (await ways[way]?.(provider, 'full')) ?? '';
    const stored = await provider.getDispatchEvents(taskDir, dispatchId);
    expect(secretsIn(stored)).toEqual(secrets);
    expect(stored.map(({ data }) => data)).toEqual(events.map(({ data }) => data));
  });

  it('is omitted once the envelope of the dispatch says narrative', async () => {
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'r', fidelity: 'full' });
    await updateDispatch(store, taskDir, dispatchId, { fidelity: 'narrative' });
    await appendEvents(store, taskDir, dispatchId, events);
    expect(secretsIn(await provider.getDispatchEvents(taskDir, dispatchId))).toEqual([]);
  });

  it('is omitted from the call on that makes the dispatch narrative, even if the store is slow', async () => {
    const gate = new Gate();
    const provider = changedStore((inner) => ({
      async updateDispatch(task, dispatchId, updates) {
        await gate.opened;
        return inner.updateDispatch(task, dispatchId, updates);
      },
    }));
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(taskDir, { role: 'r', fidelity: 'full' });
    const checked = dispatch.check(events);
    expect(secretsIn(checked)).toEqual(secrets);
    const narrowing = dispatch.update({ fidelity: 'narrative' });
    const appended = [dispatch.append(events), dispatch.append(checked), dispatch.accept(checked).recorded];
    gate.open();
    await Promise.all([narrowing, ...appended]);
    await dispatch.append(checked);
    const stored = await store.getDispatchEvents(taskDir, dispatch.dispatchId);
    expect(stored).toHaveLength(events.length);
    expect(secretsIn(stored)).toEqual([]);
  });

  it('is not published either if the log omits it', async () => {
    const shown: CapturedEvent[] = [];
    const communication = createCommunicationHub([
      {
        contract: 1,
        eventRecorded: (notice) => {
          shown.push(notice.event);
        },
      },
    ]);
    await communication.start();
    const runner = agent(async function* () {
      for (const one of events) yield event(one.type as never, one.data as never);
    });
    const store = openDispatchStore(createMemoryStore());
    await runDispatch({ store, taskDir, agent: runner, role: 'r', communication });
    await communication.close();
    expect(shown).toHaveLength(events.length);
    expect(secretsIn(shown)).toEqual([]);
  });
});

describe('a secret in any private field of any event', () => {
  const canaries = narrativeCanaries(16, 2);
  const wordsIn = (value: unknown) => new Set(JSON.stringify(value).match(/(?:SECRET|KEPT)_\d+_\d+_/g));
  /** Types that a program may have made, and so keeps whole. */
  const ofProgram = new Set(['game:kind_of_tomorrow', 'agent:kind_of_tomorrow', 'user:video']);
  const whole = wordsIn(canaries.events.filter(({ type }) => ofProgram.has(type)));

  it.each(['appended', 'mapped', 'run'])(
    'is not in the log of a narrative dispatch that was %s',
    async (way) => {
      const provider = createMemoryStore();
      const store = openDispatchStore(provider, { onDiagnostic: () => {} });
      const isMapped = way === 'mapped';
      let dispatchId: string;
      if (way !== 'run') {
        const dispatch = await store.beginDispatch(taskDir, { role: 'r' }, { isMapped });
        await dispatch.append(canaries.events);
        dispatchId = dispatch.dispatchId;
      } else {
        const runner = agent(async function* () {
          for (const one of canaries.events) yield { kind: 'event' as const, event: one };
        });
        dispatchId = (await runDispatch({ store, taskDir, agent: runner, role: 'r', limits: {} })).dispatchId;
      }
      const stored = await provider.getDispatchEvents(taskDir, dispatchId);
      const held = wordsIn(stored);
      expect(canaries.secret.length).toBeGreaterThan(200);
      const mayHold = (word: string) => !isMapped && whole.has(word);
      expect(canaries.secret.filter((word) => held.has(word) !== mayHold(word))).toEqual([]);
      expect(canaries.kept.filter((word) => !held.has(word))).toEqual([]);
    },
  );
});

describe('an event of a narrative dispatch', () => {
  it('changes nothing when it is appended again, whole or as it was recorded', async () => {
    const store = openDispatchStore(createMemoryStore());
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'r' });
    const recorded = await appendEvents(store, taskDir, dispatchId, events);
    expect(await appendEvents(store, taskDir, dispatchId, events)).toEqual(recorded);
    await appendEvents(store, taskDir, dispatchId, recorded);
    expect(await store.getDispatchEvents(taskDir, dispatchId)).toEqual(recorded);
  });

  it('reads the envelope only at the claim, however many are appended', async () => {
    const reads: string[] = [];
    const provider = changedStore((inner) => ({
      getDispatchEnvelope(task, dispatchId) {
        reads.push('envelope');
        return inner.getDispatchEnvelope(task, dispatchId);
      },
      claimDispatch(task, dispatchId) {
        reads.push('claim');
        return inner.claimDispatch(task, dispatchId);
      },
    }));
    const dispatchId = await dispatched(provider, 'narrative');
    const store = openDispatchStore(provider);
    const dispatch = await store.openDispatch(taskDir, dispatchId, { write: true });
    for (const one of events) await dispatch.append(one);
    await dispatch.append(events);
    expect(secretsIn(await provider.getDispatchEvents(taskDir, dispatchId))).toEqual([]);
    expect(reads).toEqual(['claim']);
  });
});

describe('calls that differ only in fields that a narrative omits', () => {
  it('are not taken for a loop', async () => {
    const runner = agent(async function* () {
      for (let turn = 0; turn < 40; turn += 1) {
        const data = { toolCallId: `c${turn}`, tool: 'ask', metadata: {}, input: { question: turn } };
        yield event('agent:tool_call', data);
      }
    });
    const store = openDispatchStore(createMemoryStore());
    const envelope = await runDispatch({ store, taskDir, agent: runner, role: 'r' });
    const stored = await store.getDispatchEvents(taskDir, envelope.dispatchId);
    expect(envelope.status).toBe('completed');
    expect(stored.map(({ type }) => type)).toEqual(Array.from({ length: 40 }, () => 'agent:tool_call'));
  });
});
