import { createCommunicationHub, openDispatchStore, runDispatch, startDispatch } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, newEvent } from '@hansard/events';
import type { AgentProvider, CommunicationHost, CommunicationProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import type { CommunicationProblem } from '../../src/communication/communication-problem.ts';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, delta, says, yields } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';
const envelope = { dispatchId: 'D1' } as DispatchEnvelope;

function eventNotice(text: string) {
  const event = { id: text, timestamp: '', ...newEvent('agent:text', { text }) } as CapturedEvent;
  return { taskDir, envelope, event, position: 0 };
}

function deltaNotice(text: string) {
  return { taskDir, envelope, delta: { type: 'delta:text' as const, text } };
}

/** A provider that keeps its notices, in words, and waits at its gate if it has one. */
function listener(gate?: Gate) {
  const heard: string[] = [];
  const hear = async (words: string) => {
    heard.push(words);
    await gate?.opened;
  };
  const provider: CommunicationProvider = {
    contract: 1,
    start: () => hear('start'),
    dispatchStarted: (notice) => hear(`started ${notice.envelope.dispatchId}`),
    eventRecorded: (notice) => hear(`event ${notice.event.data.text}`),
    deltaReceived: (notice) => hear(`delta ${notice.delta.text}`),
    dispatchEnded: (notice) => hear(`ended ${notice.envelope.status}`),
  };
  return { provider, heard };
}

function problems() {
  const found: CommunicationProblem[] = [];
  return { found, onProblem: (problem: CommunicationProblem) => found.push(problem) };
}

describe('a communication provider', () => {
  it('receives start, events, deltas and end of a dispatch in order, and events only after they are recorded', async () => {
    const { provider, heard } = listener();
    const store = openDispatchStore(createMemoryStore());
    const wasInTheLog: boolean[] = [];
    const hub = createCommunicationHub([
      provider,
      {
        contract: 1,
        async eventRecorded({ envelope: { dispatchId }, event }) {
          const events = await store.getDispatchEvents(taskDir, dispatchId);
          wasInTheLog.push(events.some(({ id }) => id === event.id));
        },
      },
    ]);
    await hub.start();
    await runDispatch({
      store,
      taskDir,
      role: 'worker',
      dispatchId: 'D1',
      communication: hub,
      agent: yields(delta('he'), delta('llo'), says('hello'), says('bye')),
    });
    await hub.close();
    expect(heard).toEqual([
      'start',
      'started D1',
      'delta he',
      'delta llo',
      'event hello',
      'event bye',
      'ended completed',
    ]);
    expect(wasInTheLog).toEqual([true, true]);
    const types = (await store.getDispatchEvents(taskDir, 'D1')).map(({ type }) => type);
    expect(types).toEqual(['agent:text', 'agent:text']);
  });

  it('does not receive an event that could not be recorded', async () => {
    const { provider, heard } = listener();
    const failing = changedStore(() => ({
      appendEvent() {
        throw new Error('disk full');
      },
    }));
    const hub = createCommunicationHub([provider]);
    await hub.start();
    const run = runDispatch({
      store: openDispatchStore(failing),
      taskDir,
      role: 'worker',
      dispatchId: 'D1',
      communication: hub,
      agent: yields(says('lost')),
    });
    await expect(run).rejects.toThrow('disk full');
    await hub.close();
    expect(heard).toEqual(['start', 'started D1']);
  });

  it('gets nothing before it has started', async () => {
    const gate = new Gate();
    const { provider, heard } = listener(gate);
    const hub = createCommunicationHub([provider]);
    hub.eventRecorded(eventNotice('a'));
    const started = hub.start();
    await turn();
    expect(heard).toEqual(['start']);
    gate.open();
    await started;
    await hub.close();
    expect(heard).toEqual(['start', 'event a']);
  });

  it('receives its waiting notices even if the hub is closed while it starts', async () => {
    const gate = new Gate();
    const { provider, heard } = listener(gate);
    const hub = createCommunicationHub([provider]);
    void hub.start();
    hub.eventRecorded(eventNotice('a'));
    const closed = hub.close();
    await turn();
    gate.open();
    await closed;
    expect(heard).toEqual(['start', 'event a']);
  });

  it('is called for the next notice when it is done with the one before', async () => {
    const gates = [new Gate(), new Gate()];
    const open = gates.slice();
    const heard: string[] = [];
    const hub = createCommunicationHub([
      {
        contract: 1,
        async eventRecorded({ event }) {
          heard.push(String(event.data.text));
          await open.shift()?.opened;
        },
      },
    ]);
    await hub.start();
    hub.eventRecorded(eventNotice('a'));
    hub.eventRecorded(eventNotice('b'));
    await turn();
    expect(heard).toEqual(['a']);
    gates[0]?.open();
    await turn();
    expect(heard).toEqual(['a', 'b']);
  });

  it('that hangs delays neither a dispatch nor another provider', async () => {
    const hanging = listener(new Gate());
    const quick = listener();
    const clock = new ManualClock();
    const { found, onProblem } = problems();
    const hub = createCommunicationHub([{ ...hanging.provider, start: () => {} }, quick.provider], {
      clock,
      onProblem,
    });
    await hub.start();
    const store = openDispatchStore(createMemoryStore());
    const agentOfThree = yields(says('a'), says('b'), says('c'));
    await runDispatch({ store, taskDir, role: 'worker', communication: hub, agent: agentOfThree });
    await turn();
    expect(hanging.heard).toHaveLength(1);
    expect(quick.heard).toHaveLength(6);
    const closing = hub.close();
    clock.advance(2_000);
    await closing;
    expect(found).toEqual([expect.objectContaining({ kind: 'not_drained', waiting: 4 })]);
  });

  it('that throws fails no dispatch, is called again, and each throw is reported', async () => {
    let calls = 0;
    const provider: CommunicationProvider = {
      contract: 1,
      eventRecorded() {
        calls += 1;
        throw new Error(`broken ${calls}`);
      },
    };
    const { found, onProblem } = problems();
    const hub = createCommunicationHub([provider], { onProblem });
    await hub.start();
    const store = openDispatchStore(createMemoryStore());
    const ended = await runDispatch({
      store,
      taskDir,
      role: 'worker',
      communication: hub,
      agent: yields(says('a'), says('b')),
    });
    await hub.close();
    expect(ended.status).toBe('completed');
    expect(found).toMatchObject([
      { kind: 'call_failed', method: 'eventRecorded', error: { message: 'broken 1' }, provider },
      { kind: 'call_failed', method: 'eventRecorded', error: { message: 'broken 2' }, provider },
    ]);
  });

  it('whose start throws is reported and left out', async () => {
    const { provider, heard } = listener();
    const { found, onProblem } = problems();
    const start = () => {
      throw new Error('no terminal');
    };
    const hub = createCommunicationHub([{ ...provider, start }], { onProblem });
    await hub.start();
    hub.eventRecorded(eventNotice('a'));
    await hub.close();
    expect(heard).toEqual([]);
    expect(found).toMatchObject([{ kind: 'call_failed', method: 'start' }]);
  });
});

describe('a provider that is behind', () => {
  it('misses deltas before events, and the hub reports how many it missed', async () => {
    const gate = new Gate();
    const { provider, heard } = listener(gate);
    const { found, onProblem } = problems();
    const hub = createCommunicationHub([{ ...provider, start: () => {} }], { onProblem, queueLimit: 4 });
    await hub.start();
    hub.eventRecorded(eventNotice('first'));
    await turn();
    for (const text of ['a', 'b']) hub.eventRecorded(eventNotice(text));
    for (const text of ['1', '2', '3']) hub.deltaReceived(deltaNotice(text));
    hub.eventRecorded(eventNotice('c'));
    gate.open();
    await hub.close();
    expect(heard).toEqual(['event first', 'event a', 'event b', 'delta 3', 'event c']);
    expect(found).toEqual([expect.objectContaining({ kind: 'dropped', events: 0, deltas: 2 })]);
  });

  it('misses the oldest events only when nothing else is left to drop, and that is reported at once', async () => {
    const gate = new Gate();
    const { provider, heard } = listener(gate);
    const { found, onProblem } = problems();
    const hub = createCommunicationHub([{ ...provider, start: () => {} }], { onProblem, queueLimit: 4 });
    await hub.start();
    hub.dispatchStarted({ taskDir, envelope });
    await turn();
    for (const text of ['a', 'b', 'c', 'd']) hub.eventRecorded(eventNotice(text));
    hub.deltaReceived(deltaNotice('1'));
    hub.dispatchEnded({ taskDir, envelope: { ...envelope, status: 'completed' } });
    await turn();
    expect(found).toEqual([expect.objectContaining({ kind: 'dropped', events: 2, deltas: 1 })]);
    gate.open();
    await hub.close();
    expect(heard).toEqual(['started D1', 'event c', 'event d', 'ended completed']);
  });

  it('holds no more notices than its queue takes, also of dispatches that come and go', async () => {
    const { provider } = listener(new Gate());
    const { found, onProblem } = problems();
    const hub = createCommunicationHub([provider], { onProblem, queueLimit: 4, drainMs: 0 });
    void hub.start();
    for (let count = 0; count < 50; count += 1) {
      hub.dispatchStarted({ taskDir, envelope });
      hub.dispatchEnded({ taskDir, envelope });
    }
    await hub.close();
    await turn();
    expect(found.find(({ kind }) => kind === 'not_drained')).toMatchObject({ waiting: 4 });
  });

  it('needs a queue of at least one', () => {
    expect(() => createCommunicationHub([], { queueLimit: 0 })).toThrow(TypeError);
  });
});

describe('what people say', () => {
  async function host() {
    const hosts: CommunicationHost[] = [];
    const provider: CommunicationProvider = {
      contract: 1,
      start(given) {
        hosts.push(given);
      },
      eventRecorded() {},
    };
    const hub = createCommunicationHub([provider]);
    await hub.start();
    const [given] = hosts;
    if (given === undefined) throw new Error('not started');
    return { hub, host: given };
  }

  /** Repeats each message until one says stop. */
  const echo = agent(async function* ({ messages }) {
    for await (const { data } of messages) {
      if (data.text === 'stop') return;
      yield says(`echo ${data.text}`);
    }
  });

  it('reaches the dispatch that is named, or else the one that started last, until it ends', async () => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const base = { store, taskDir, role: 'worker', agent: echo, communication: hub };
    const first = await startDispatch({ ...base, dispatchId: 'D1' });
    const second = await startDispatch({ ...base, dispatchId: 'D2' });
    expect(await toDispatch.deliver({ text: 'to the last' })).toBe(true);
    expect(await toDispatch.deliver({ text: 'to the first', dispatchId: 'D1' })).toBe(true);
    expect(await toDispatch.deliver({ text: 'stop' })).toBe(true);
    await second.ended;
    expect(await toDispatch.deliver({ text: 'lost', dispatchId: 'D2' })).toBe(false);
    expect(await toDispatch.deliver({ text: 'stop' })).toBe(true);
    await first.ended;
    expect(await toDispatch.deliver({ text: 'anybody?' })).toBe(false);
    const said = async (id: string) =>
      (await store.getDispatchEvents(taskDir, id)).map(({ data }) => data.text);
    expect(await said('D1')).toEqual(['to the first', 'echo to the first', 'stop']);
    expect(await said('D2')).toEqual(['to the last', 'echo to the last', 'stop']);
  });

  it.each(['', ' \n', undefined, null, 5])('is refused without text, and not recorded: %j', async (text) => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const base = { store, taskDir, role: 'worker', agent: echo, communication: hub };
    const run = await startDispatch({ ...base, dispatchId: 'D1' });
    const refused = { code: 'DISPATCH_MESSAGE_EMPTY' };
    const message = { text: text as string };
    await expect(toDispatch.deliver(message)).rejects.toMatchObject(refused);
    await expect(toDispatch.deliver({ ...message, dispatchId: 'D1' })).rejects.toMatchObject(refused);
    await expect(run.send(message.text)).rejects.toMatchObject(refused);
    await run.send('stop');
    await run.ended;
    const events = await store.getDispatchEvents(taskDir, 'D1');
    expect(events.map(({ data }) => data.text)).toEqual(['stop']);
  });

  it('is recorded with its source, a person unless the provider names the outside world', async () => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const run = await startDispatch({ store, taskDir, role: 'worker', agent: echo, communication: hub });
    await toDispatch.deliver({ text: 'deployed', source: { kind: 'external', what: 'webhook' } });
    await toDispatch.deliver({ text: 'stop' });
    await run.ended;
    const messages = (await store.getDispatchEvents(taskDir, run.dispatchId)).filter(
      ({ type }) => type === 'user:message',
    );
    expect(messages.map(({ data }) => data.source)).toEqual([
      { kind: 'external', what: 'webhook' },
      { kind: 'user' },
    ]);
  });

  it('delivers nothing to an agent that takes no messages, such as a recording, and says so', async () => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const ending = Promise.withResolvers<void>();
    const recording: AgentProvider = {
      contract: 1,
      takesMessages: false,
      async *run() {
        await ending.promise;
        yield { kind: 'event', event: newEvent('session:complete', { status: 'completed' }) };
      },
    };
    const running = await startDispatch({
      store,
      taskDir,
      role: 'r',
      agent: recording,
      communication: hub,
      dispatchId: 'D1',
    });
    expect(toDispatch.accepts('D1')).toEqual({ messages: false, abort: true });
    expect(await toDispatch.deliver({ text: 'stop', dispatchId: 'D1' })).toBe(false);
    expect(await toDispatch.deliver({ text: 'stop' })).toBe(false);
    await expect(running.send('stop')).rejects.toMatchObject({ code: 'DISPATCH_ENDED' });
    ending.resolve();
    await running.ended;
    const events = await store.getDispatchEvents(taskDir, 'D1');
    expect(events.map(({ type }) => type)).toEqual(['session:complete']);
  });

  it('ends a running dispatch as aborted by the user, and no other one', async () => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const base = { store, taskDir, role: 'worker', agent: echo, communication: hub };
    const first = await startDispatch({ ...base, dispatchId: 'D1' });
    const second = await startDispatch({ ...base, dispatchId: 'D2' });
    const detach = hub.attach('talk', async () => true);
    expect(['none', 'talk', 'D1'].map((id) => toDispatch.accepts(id))).toEqual([
      { messages: false, abort: false },
      { messages: true, abort: false },
      { messages: true, abort: true },
    ]);
    expect(['none', 'talk', 'D1'].map((id) => toDispatch.abort(id, 'enough'))).toEqual([false, false, true]);
    expect((await first.ended).status).toBe('aborted');
    const [stop] = await store.getDispatchEvents(taskDir, 'D1');
    expect([stop?.type, stop?.data]).toEqual(['harness:abort', { reason: 'enough', by: 'user' }]);
    expect(toDispatch.abort('D1')).toBe(false);
    expect(await toDispatch.deliver({ text: 'stop', dispatchId: 'D2' })).toBe(true);
    expect((await second.ended).status).toBe('completed');
    detach();
  });

  it('still reaches a dispatch where one of the same id in another task has ended', async () => {
    const { hub, host: toDispatch } = await host();
    const store = openDispatchStore(createMemoryStore());
    const base = { store, role: 'worker', dispatchId: 'D1', agent: echo, communication: hub };
    const first = await startDispatch({ ...base, taskDir: 'lab/tasks/first' });
    const second = await startDispatch({ ...base, taskDir: 'lab/tasks/second' });
    await first.send('stop');
    await first.ended;
    expect(await toDispatch.deliver({ text: 'stop', dispatchId: 'D1' })).toBe(true);
    await second.ended;
  });
});
