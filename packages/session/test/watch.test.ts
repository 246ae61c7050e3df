import { createCommunicationHub } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type {
  CommunicationHost,
  CommunicationProvider,
  DeltaNotice,
  EventNotice,
  ModelMessage,
  ModelRequest,
} from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { answers, calls, done, hostOf, model, says, tools } from './scripted.ts';

const look = tools({ look: () => done('a wall') });
const code = (error: unknown) => (error as { readonly code?: string }).code;
const codeOf = (work: Promise<unknown>) => work.then(() => 'answered', code);
const ofType = (events: readonly CapturedEvent[], type: string) =>
  events.filter((event) => event.type === type);

const textOf = (message: ModelMessage | undefined) =>
  message !== undefined && 'text' in message ? message.text : null;

/** A model that calls `look` again and again, and says something after `count` calls. */
function looking(count: number) {
  let called = 0;
  return model(() => {
    called += 1;
    return called > count ? says('A wall.') : calls('look', { at: 'north' }, `call_${called}`);
  });
}

describe('an agent of a session that repeats a call', () => {
  it('is warned of and stopped after 15 of 51 equal calls, and the session continues', async () => {
    const { create, events, envelope } = prepare();
    const { session, root } = await create({ model: looking(51), tools: [look], maxToolRounds: 60 });
    await root.harken('What do you see?');
    const failure: unknown = await root.response().catch((error: unknown) => error);
    expect(code(failure)).toBe('SESSION_AGENT_STOPPED');
    expect(failure).toMatchObject({ details: { agentId: root.agentId, event: 'harness:loop_kill' } });

    const log = await events();
    expect(ofType(log, 'agent:tool_call')).toHaveLength(15);
    const agentId = root.agentId;
    expect(ofType(log, 'harness:loop_warning')).toMatchObject([
      { agentId, data: { tool: 'look', count: 8 } },
    ]);
    expect(ofType(log, 'harness:loop_kill')).toMatchObject([{ agentId, data: { tool: 'look', count: 15 } }]);
    // The last call was not made, and no call is open.
    const results = ofType(log, 'agent:tool_result');
    expect(results).toHaveLength(15);
    expect(results.at(-1)).toMatchObject({ data: { status: 'error' } });

    // Asked again, it has as many calls as before.
    expect(await codeOf(root.response())).toBe('SESSION_AGENT_STOPPED');
    expect(ofType(await events(), 'agent:tool_call')).toHaveLength(30);
    await session.close();
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('is not stopped for calls of several turns, because each turn was asked for', async () => {
    const { create, events } = prepare();
    let turns = 0;
    const eachTurn = model(({ messages }: ModelRequest) => {
      turns += 1;
      return messages.at(-1)?.role === 'tool' ? says('A wall.') : calls('look', {}, `call_${turns}`);
    });
    const { root } = await create({ model: eachTurn, tools: [look] });
    for (let turn = 0; turn < 51; turn += 1) {
      await root.harken('And now?');
      await root.response();
    }
    expect(typesOf(await events()).filter((type) => type.startsWith('harness:'))).toEqual([]);
  });

  it('is not stopped without a loop detector', async () => {
    const { create } = prepare();
    const { root } = await create({
      model: looking(51),
      tools: [look],
      maxToolRounds: 60,
      loopDetector: false,
    });
    await root.harken('What do you see?');
    expect(String(await root.response())).toBe('A wall.');
  });

  it('is an error for the agent whose tool let it speak', async () => {
    const { create, events } = prepare();
    const ask = tools({
      ask: async (call) => {
        const host = hostOf(call);
        const scout = await host.createAgent({ name: 'Scout' });
        await host.deliver(scout.agentId, { text: 'Look.' });
        return done(String(await host.respond(scout.agentId)));
      },
      look: () => done('a wall'),
    });
    let called = 0;
    const both = model(({ agentName, messages }) => {
      called += 1;
      if (agentName === 'Scout') return calls('look', {}, `call_${called}`);
      return messages.at(-1)?.role === 'tool' ? says('It is lost.') : calls('ask', {}, `call_${called}`);
    });
    const { root } = await create({ model: both, tools: [ask], maxToolRounds: 60 });
    await root.harken('Ask the scout.');
    expect(String(await root.response())).toBe('It is lost.');
    const log = await events();
    const kill = find(log, 'harness:loop_kill');
    const result = find(log, 'agent:tool_result', { tool: 'ask' });
    expect(result).toMatchObject({ cause: [kill.id], data: { status: 'error' } });
  });
});

describe('two agents of a session', () => {
  it('are not warned of for equal calls in turn, because each makes few', async () => {
    const { create, events } = prepare();
    const made = new Map<string, number>();
    const few = model(({ agentId }) => {
      const count = (made.get(agentId) ?? 0) + 1;
      made.set(agentId, count);
      return count > 7 ? says('A wall.') : calls('look', {}, `${agentId}_${count}`);
    });
    const { session, root } = await create({ model: few, tools: [look] });
    const other = await session.createAgent();
    await Promise.all([root, other].map((agent) => agent.harken('Look.')));
    await Promise.all([root.response(), other.response()]);
    const log = await events();
    const callers = ofType(log, 'agent:tool_call').map(({ agentId }) => agentId);
    expect(callers).toHaveLength(14);
    // They take turns: a detector that mixed the agents would count 14 equal calls.
    expect(callers[0]).not.toBe(callers[1]);
    expect(typesOf(log).filter((type) => type.startsWith('harness:'))).toEqual([]);
  });
});

describe('an agent of a session whose model or tool is silent', () => {
  /** A promise that settles only with the signal. */
  const never = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  it('is stopped after the limit, which each delta begins anew', async () => {
    const { create, events, envelope } = prepare();
    const clock = new ManualClock();
    let onDelta: ModelRequest['onDelta'] = () => {};
    const asked = Promise.withResolvers<void>();
    const stuck = model(async (request) => {
      onDelta = request.onDelta;
      asked.resolve();
      return never(request.signal);
    });
    const { session, root } = await create({ model: stuck, clock, limits: { stallMs: 1_000 } });
    // Without a question there is nothing to wait for.
    clock.advance(60_000);
    await root.harken('Anyone?');
    const failed = codeOf(root.response());
    await asked.promise;
    clock.advance(900);
    onDelta?.({ type: 'delta:text', text: 'I' });
    clock.advance(900);
    expect(typesOf(await events())).not.toContain('harness:stall');
    clock.advance(200);
    expect(await failed).toBe('SESSION_AGENT_STOPPED');
    expect(find(await events(), 'harness:stall')).toMatchObject({
      agentId: root.agentId,
      data: { idleMs: 1_000, limitMs: 1_000 },
    });
    await session.close();
    expect(await envelope()).toMatchObject({ status: 'completed' });
  });

  it('has an interrupted call if its tool hung, and another agent continues', async () => {
    const { create, events } = prepare();
    const clock = new ManualClock();
    const entered = Promise.withResolvers<void>();
    const hang = tools({
      hang: ({ signal }) => {
        entered.resolve();
        return never(signal);
      },
    });
    const gate = Promise.withResolvers<void>();
    const two = model(async ({ agentName, onDelta }) => {
      if (agentName !== 'Busy') return calls('hang');
      await entered.promise;
      for (let word = 0; word < 4; word += 1) {
        clock.advance(400);
        onDelta?.({ type: 'delta:text', text: 'word ' });
      }
      await gate.promise;
      return says('word word word word');
    });
    const { session, root } = await create({ model: two, tools: [hang], clock, limits: { stallMs: 1_000 } });
    const busy = await session.createAgent({ name: 'Busy' });
    await Promise.all([root, busy].map((agent) => agent.harken('Go.')));
    const [failed, said] = [codeOf(root.response()), busy.response()];
    expect(await failed).toBe('SESSION_AGENT_STOPPED');
    gate.resolve();
    expect(String(await said)).toBe('word word word word');
    const log = await events();
    expect(ofType(log, 'harness:stall')).toMatchObject([{ agentId: root.agentId }]);
    expect(find(log, 'agent:tool_result')).toMatchObject({ data: { status: 'error' } });
  });

  it('is not silent while it waits for another agent', async () => {
    const { create, events } = prepare();
    const clock = new ManualClock();
    const ask = tools({
      ask: async (call) => {
        const host = hostOf(call);
        const { agentId } = await host.createAgent({ name: 'Slow' });
        await host.deliver(agentId, { text: 'Think.' });
        return done(String(await host.respond(agentId)));
      },
    });
    const slow = model(({ agentName, messages, onDelta }) => {
      if (agentName === 'Slow') {
        for (let word = 0; word < 5; word += 1) {
          clock.advance(900);
          onDelta?.({ type: 'delta:text', text: 'hm ' });
        }
        return says('Yes.');
      }
      return messages.at(-1)?.role === 'tool' ? says('It says yes.') : calls('ask');
    });
    const { root } = await create({ model: slow, tools: [ask], clock, limits: { stallMs: 1_000 } });
    await root.harken('Ask.');
    expect(String(await root.response())).toBe('It says yes.');
    expect(typesOf(await events())).not.toContain('harness:stall');
  });
});

describe('a session', () => {
  it('is stopped by its cost limit before the next call of a model, also after it was loaded', async () => {
    const { create, load, events, envelope } = prepare();
    const dear = { model: model(() => says('Dear.', { costUsd: 0.5 })), limits: { costUsd: 0.75 } };
    const { session, root } = await create(dear);
    for (const word of ['one', 'two']) {
      await root.harken(word);
      // The second answer goes above the limit, and is given: its cost is spent.
      expect(String(await root.response())).toBe('Dear.');
    }
    await root.harken('three');
    expect(await codeOf(root.response())).toBe('SESSION_STOPPED');
    expect(session.signal.aborted).toBe(true);
    await session.close();
    expect(find(await events(), 'harness:abort')).toMatchObject({
      data: { by: 'harness', reason: 'cost limit: 1 of 0.75 US dollars spent' },
    });
    expect(await envelope()).toMatchObject({ status: 'aborted', cost: 1 });

    const again = await load(dear);
    expect(await codeOf(again.root.response())).toBe('SESSION_STOPPED');
    await again.session.close();
    const more = await load({ ...dear, limits: { costUsd: 10 } });
    expect(String(await more.root.response())).toBe('Dear.');
    await more.session.close();
    expect(await envelope()).toMatchObject({ status: 'completed', cost: 1.5 });
  });

  it('is stopped by its time limit, and by an abort, which ends its pending calls of models', async () => {
    for (const how of ['time', 'abort'] as const) {
      const { create, events, envelope } = prepare();
      const clock = new ManualClock();
      const asked = Promise.withResolvers<void>();
      const stuck = model(() => {
        asked.resolve();
        return new Promise<never>(() => {});
      });
      const { session, root } = await create({ model: stuck, clock, limits: { timeMs: 5_000 } });
      await root.harken('Hello?');
      const failed = codeOf(root.response());
      await asked.promise;
      if (how === 'time') clock.advance(5_000);
      else session.abort('enough', 'user');
      expect(await failed).toBe('SESSION_STOPPED');
      await session.close();
      expect(clock.timers).toBe(0);
      const [stop] = (await events()).filter(({ type }) => type.startsWith('harness:'));
      expect(stop).toMatchObject(
        how === 'time'
          ? { type: 'harness:timeout', data: { limitMs: 5_000 } }
          : { type: 'harness:abort', data: { reason: 'enough', by: 'user' } },
      );
      expect(await envelope()).toMatchObject({ status: 'aborted' });
    }
  });

  it('says once that a limit of cost does not count a model without a stated cost, and says nothing without a limit', async () => {
    const usage = { inputTokens: 5, outputTokens: 5 };
    for (const limits of [{ costUsd: 1 }, {}]) {
      const { create, events } = prepare();
      const { session, root } = await create({
        model: answers(
          says('One.', { usage }),
          says('Two.', { usage }),
          says('Three.', { usage, costUsd: 0.5 }),
        ),
        limits,
      });
      for (const question of ['Once?', 'Twice?', 'Again?']) {
        await root.harken(question);
        await root.response();
      }
      await session.close();
      const warnings = (await events()).filter(({ type }) => type === 'harness:error');
      expect(warnings.map(({ data }) => data)).toEqual(
        'costUsd' in limits
          ? [
              {
                code: 'DISPATCH_COST_UNKNOWN',
                message:
                  'The cost limit of 1 US dollars does not count scripted-1: the log does not state what its calls cost.',
              },
            ]
          : [],
      );
    }
  });

  it.each([
    ['limits.costUsd', { limits: { costUsd: Number.NaN } }],
    ['limits.stallMs', { limits: { stallMs: -1 } }],
    ['loopDetector', { loopDetector: { window: 3, warnAt: 5, killAt: 2 } }],
    ['workers.maxRunning', { workers: { maxRunning: 0 } }],
  ])('refuses a wrong %s', async (_name, options) => {
    await expect(prepare().create(options)).rejects.toMatchObject({ code: 'SESSION_OPTION_INVALID' });
  });
});

/** A provider that keeps what it is shown. */
function shown() {
  const [events, deltas, hosts]: [EventNotice[], DeltaNotice[], CommunicationHost[]] = [[], [], []];
  const provider: CommunicationProvider = {
    contract: 1,
    start: (host) => {
      hosts.push(host);
    },
    eventRecorded: (notice) => {
      events.push(notice);
    },
    deltaReceived: (notice) => {
      deltas.push(notice);
    },
  };
  return { provider, events, deltas, hosts };
}

describe("a program's session with a communication provider", () => {
  it('gets what is typed there and shows its deltas there, exactly once each', async () => {
    const screen = shown();
    const hub = createCommunicationHub([screen.provider]);
    await hub.start();
    const [host] = screen.hosts;
    const { create, events } = prepare();
    const echo = model(({ messages, onDelta }) => {
      const text = `You said: ${textOf(messages.at(-1))}`;
      for (const word of text.split(/(?<= )/)) onDelta?.({ type: 'delta:text', text: word });
      return says(text);
    });
    const { session, root } = await create({
      model: echo,
      communication: hub,
      onIncoming: (text) => text === '/end',
    });
    expect(host?.accepts(session.dispatchId)).toEqual({ messages: true, abort: true });
    expect(await host?.deliver({ text: 'one' })).toBe(true);
    expect(
      await host?.deliver({ text: 'two', dispatchId: session.dispatchId, source: { kind: 'external' } }),
    ).toBe(true);
    const taken: unknown[] = [];
    for await (const { id, data } of session.messages) {
      taken.push([id, data.text]);
      while (root.awaitsResponse) await root.response();
      if (taken.length === 1) expect(await host?.deliver({ text: 'three' })).toBe(true);
      // The program takes its own command.
      if (taken.length === 3) {
        expect(await host?.deliver({ text: '/end' })).toBe(true);
        await session.close();
      }
    }
    expect(await host?.deliver({ text: 'four' })).toBe(false);
    await hub.close();

    const messages = ofType(await events(), 'user:message');
    expect(messages.map(({ data }) => data)).toEqual([
      { text: 'one', source: { kind: 'user' } },
      { text: 'two', source: { kind: 'external' } },
      { text: 'three', source: { kind: 'user' } },
    ]);
    expect(taken).toEqual(messages.map(({ id, data }) => [id, data.text]));
    // 'one' and 'two' are answered together.
    expect(screen.deltas.map(({ delta }) => delta.text).join('')).toBe('You said: twoYou said: three');
    expect(screen.events.map(({ event }) => event.id)).toEqual((await events()).map(({ id }) => id));
  });

  it('gives a message in the middle of a turn to the next call of the model', async () => {
    const screen = shown();
    const hub = createCommunicationHub([screen.provider]);
    await hub.start();
    const wait = tools({
      wait: async () => {
        await screen.hosts[0]?.deliver({ text: 'Stop that.' });
        return done('waited');
      },
    });
    const prompts: (string | null)[][] = [];
    const asked = model(({ messages }) => {
      prompts.push(messages.map(textOf));
      return prompts.length === 1 ? calls('wait') : says('I stop.');
    });
    const { session, root } = await prepare().create({ model: asked, tools: [wait], communication: hub });
    await root.harken('Wait.');
    expect(String(await root.response())).toBe('I stop.');
    expect(root.awaitsResponse).toBe(false);
    expect(prompts.at(-1)).toContain('Stop that.');
    await session.close();
  });

  it('is stopped from there', async () => {
    const screen = shown();
    const hub = createCommunicationHub([screen.provider]);
    await hub.start();
    const { create, envelope, events } = prepare();
    const { session, root } = await create({ model: model(() => says('yes')), communication: hub });
    expect(screen.hosts[0]?.abort(session.dispatchId, 'enough')).toBe(true);
    for await (const message of session.messages) expect(message).toBeUndefined();
    expect(await codeOf(root.response())).toBe('SESSION_STOPPED');
    await session.close();
    expect(find(await events(), 'harness:abort').data).toEqual({ reason: 'enough', by: 'user' });
    expect(await envelope()).toMatchObject({ status: 'aborted' });
  });
});
