import { dispatchErrors, openDispatchStore, type RunDispatchOptions, runDispatch } from '@hansard/dispatch';
import { type CapturedEvent, type JsonObject, newEvent } from '@hansard/events';
import type { AgentRunRequest, DispatchHost, HookProvider, OutgoingMessage } from '@hansard/provider';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, event, says, stopped } from '../support/scripted-agent.ts';
import { done, tools, use } from '../tools/scripted-tools.ts';
import { prepare, type Script, starts, staysWith, stores, taskDir, worker } from './workers-scenario.ts';

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? String(error);

/** The first message that arrives. */
async function received({ messages }: AgentRunRequest): Promise<CapturedEvent> {
  for await (const message of messages) return message;
  throw new Error('no message arrived');
}

const messagesIn = (log: readonly CapturedEvent[]) => log.filter(({ type }) => type === 'user:message');
const sentIn = (log: readonly CapturedEvent[]) => log.filter(({ type }) => type === 'agent:message_sent');

/** A worker that reports to its parent when it hears something, and then ends. */
const answers: Script = async function* (request, host) {
  const { data } = await received(request);
  await host.send({ to: 'parent', text: `You said: ${data.text}` });
  yield says('answered');
};

/** A lead that asks one worker and waits for its answer. */
const asks = (text: string): Script =>
  async function* (request, host) {
    const { dispatchId } = await host.startWorker(worker('worker'));
    await host.send({ to: dispatchId, text });
    const { data } = await received(request);
    yield says(`heard ${data.text}`);
  };

describe.each(stores)('messages between a dispatch and its worker in a %s store', (_name, openStore) => {
  it('are in both logs: the sender says to whom, the receiver from which dispatch and event', async () => {
    const { start, log, envelopes, store } = prepare(
      { lead: asks('Which one?'), worker: answers },
      await openStore(),
    );
    await (await start()).ended;
    const [ofLead, ofWorker] = [await log('lead'), await log('worker')];
    const workerId = (await envelopes()).worker?.dispatchId;
    expect(sentIn(ofLead).map(({ data }) => data)).toEqual([
      { text: 'Which one?', to: { dispatchId: workerId } },
    ]);
    expect(messagesIn(ofWorker).slice(1)).toMatchObject([
      {
        data: { text: 'Which one?', source: { kind: 'agent', dispatchId: 'LEAD' } },
        cause: sentIn(ofLead)[0]?.id,
      },
    ]);
    expect(sentIn(ofWorker).map(({ data }) => data)).toEqual([
      { text: 'You said: Which one?', to: { dispatchId: 'LEAD' } },
    ]);
    expect(messagesIn(ofLead)).toMatchObject([
      {
        data: { text: 'You said: Which one?', source: { kind: 'agent', dispatchId: workerId } },
        cause: sentIn(ofWorker)[0]?.id,
      },
    ]);
    expect(ofLead.at(-1)?.data.text).toBe('heard You said: Which one?');
    await store.close();
  });
});

describe('a message between dispatches', () => {
  it('has the tool call and the agent of the sender as its origin, known before the call is processed', async () => {
    const store = openDispatchStore(createMemoryStore());
    const post = tools({
      async post({ dispatches, toolCallId, agentId }) {
        const [other] = dispatches?.listReachable() ?? [];
        expect(other).toMatchObject({ role: 'worker', relation: 'worker' });
        const message = { to: other?.dispatchId ?? '', text: 'Hello.', toolCallId };
        return done(
          await (dispatches as DispatchHost).send(agentId === undefined ? message : { ...message, agentId }),
        );
      },
      async begin({ dispatches }) {
        await dispatches?.startWorker(worker('worker'));
        return done('');
      },
    });
    const lead = agent(async function* (request) {
      if (request.role === 'worker') {
        yield says((await received(request)).id);
        return;
      }
      await use(request, 'begin');
      const call = { toolCallId: 'c7', tool: 'post', metadata: {} };
      yield { kind: 'event', event: newEvent('agent:tool_call', call, { agentId: 'helper' }) };
      await use(request, 'post', {}, { toolCallId: 'c7', agentId: 'helper' });
    });
    await runDispatch({
      store,
      taskDir,
      agent: lead,
      role: 'lead',
      tools: [post],
      workers: {},
      dispatchId: 'LEAD',
    });
    const log = await store.getDispatchEvents(taskDir, 'LEAD');
    const call = log.find(({ type }) => type === 'agent:tool_call');
    expect(sentIn(log)).toMatchObject([{ agentId: 'helper', cause: call?.id }]);
    const [other] = (await store.getDispatchEnvelopes(taskDir)).filter(({ role }) => role === 'worker');
    const [, heard] = messagesIn(await store.getDispatchEvents(taskDir, other?.dispatchId ?? ''));
    expect(heard?.data.source).toEqual({ kind: 'agent', dispatchId: 'LEAD', agentId: 'helper' });
  });

  it.each(['narrative', 'full'] as const)(
    'is kept at %s fidelity, without the secrets that the store redacts, in both logs and for the reader',
    async (fidelity) => {
      const key = 'S3cretPassw0rd9x';
      const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
      const { alone } = prepare({ lead: asks(`Use postgres://app:${key}@db/x for it.`), worker: answers });
      await runDispatch({ ...alone, store, fidelity, workers: {} });
      const logs = await Promise.all(
        (await store.getDispatchEnvelopes(taskDir)).map(({ dispatchId }) =>
          store.getDispatchEvents(taskDir, dispatchId),
        ),
      );
      expect(JSON.stringify(logs)).not.toContain(key);
      const texts = logs
        .flat()
        .flatMap(({ type, data }) => (/sent|user:/.test(type) ? [String(data.text)] : []));
      expect(texts.filter((text) => /Use .+ for it\./.test(text))).toHaveLength(4);
    },
  );

  it('is observed by hooks as a delivery, and lets a hook of the receiver begin a chain of its own', async () => {
    const seen: string[] = [];
    const hook: HookProvider = {
      contract: 1,
      name: 'Diary',
      observe: ({ what, dispatchId, event: { data } }) => {
        if (what === 'delivery') seen.push(`${dispatchId === 'LEAD' ? 'lead' : 'worker'} ${data.text}`);
      },
    };
    const { start } = prepare({ lead: asks('Which one?'), worker: answers });
    await (await start({ hooks: [hook] })).ended;
    expect(seen).toEqual(['worker Be worker.', 'worker Which one?', 'lead You said: Which one?']);
  });
});

/** Two workers, of which one writes to the other; the error, or null if it was delivered. */
async function besideEachOther(workers: RunDispatchOptions['workers']) {
  const other = new Gate();
  let refused: unknown = null;
  let otherId = '';
  const { start, log } = prepare({
    async *lead(_request, host) {
      otherId = (await host.startWorker(worker('other'))).dispatchId;
      await host.startWorker(worker('one'));
      yield says('started');
    },
    async *one(_request, host) {
      yield says(JSON.stringify(host.listReachable().map(({ relation }) => relation)));
      await host.send({ to: otherId, text: 'Hello.' }).catch((error) => {
        refused = error;
      });
      other.open();
    },
    async *other(request) {
      const heard = received(request);
      heard.catch(() => {});
      await other.opened;
      yield says(refused === null ? String((await heard).data.text) : 'nothing');
    },
  });
  await (await start(workers === undefined ? {} : { workers })).ended;
  return {
    refused,
    reach: (await log('one')).find(({ type }) => type === 'agent:text')?.data.text,
    other: await log('other'),
    one: await log('one'),
  };
}

describe('workers of one task', () => {
  it('write to each other if the configuration allows it', async () => {
    const { refused, other, one } = await besideEachOther({ messages: 'all' });
    expect(refused).toBeNull();
    expect(other.at(-1)?.data.text).toBe('Hello.');
    expect(messagesIn(other)[1]).toMatchObject({ cause: sentIn(one)[0]?.id });
  });

  it.each([[undefined], [{ messages: 'parent' as const }]])('do not otherwise (%j)', async (workers) => {
    const { refused, other, one } = await besideEachOther(workers);
    expect(codeOf(refused)).toBe('DISPATCH_NOT_REACHABLE');
    expect(sentIn(one)).toEqual([]);
    expect(messagesIn(other)).toHaveLength(1);
  });
});

describe('a message that cannot be delivered', () => {
  /** The errors of a lead that sends to each of these; `worker` and `ended` stand for a running and an ended worker. */
  async function refusals(wanted: readonly (OutgoingMessage & { readonly from?: 'worker' })[]) {
    const errors: unknown[] = [];
    const gate = new Gate();
    const send = async (host: DispatchHost, message: OutgoingMessage, ids: Record<string, string> = {}) => {
      await host.send({ ...message, to: ids[message.to] ?? message.to }).then(
        () => errors.push(null),
        (error) => errors.push(error),
      );
    };
    const { start, log } = prepare({
      async *lead(_request, host) {
        const ended = await host.startWorker(worker('short'));
        await host.awaitWorker(ended.dispatchId);
        const running = await host.startWorker(worker('worker'));
        const ids = { worker: running.dispatchId, ended: ended.dispatchId };
        for (const message of wanted) if (message.from === undefined) await send(host, message, ids);
        gate.open();
        await host.awaitWorker(running.dispatchId);
        yield says('done');
      },
      async *short() {
        yield says('short');
      },
      async *worker(_request, host) {
        await gate.opened;
        for (const message of wanted) if (message.from === 'worker') await send(host, message);
        yield says('done');
      },
    });
    await (await start()).ended;
    return { errors, log: await log('lead') };
  }

  it.each([
    ['a worker that has ended', { to: 'ended' }, 'DISPATCH_ENDED'],
    ['an unknown id', { to: 'nobody' }, 'STORE_DISPATCH_NOT_FOUND'],
    ['a name of the prototype', { to: '__proto__' }, 'STORE_DISPATCH_NOT_FOUND'],
    ['itself', { to: 'LEAD' }, 'DISPATCH_NOT_REACHABLE'],
    ['a parent that is not there', { to: 'parent' }, 'DISPATCH_NOT_REACHABLE'],
  ])('goes to %s: it is refused with a code, and nothing is recorded', async (_what, message, code) => {
    const { errors, log } = await refusals([
      { ...message, text: 'Hello.' },
      { to: 'worker', text: 'Works.' },
    ]);
    expect(errors.map((error) => (error === null ? null : codeOf(error)))).toEqual([code, null]);
    expect(sentIn(log).map(({ data }) => data.text)).toEqual(['Works.']);
    expect(log.filter(({ type }) => type === 'harness:error')).toEqual([]);
  });

  it('because its agent reads none is refused before anything is recorded', async () => {
    const store = openDispatchStore(createMemoryStore());
    const { alone } = prepare({
      async *lead(_request, host) {
        const { dispatchId } = await host.startWorker(worker('deaf', { agent: 'deaf' }));
        yield says(JSON.stringify(host.listReachable()));
        yield says(await host.send({ to: dispatchId, text: 'Hello?' }).catch(codeOf));
        await host.abortWorker(dispatchId);
      },
    });
    const deaf = {
      ...agent(async function* (request) {
        yield says('working');
        await stopped(request);
      }),
      takesMessages: false,
    };
    const { dispatchId } = await runDispatch({ ...alone, store, workers: { agents: { deaf } } });
    const log = await store.getDispatchEvents(taskDir, dispatchId);
    expect(log.map(({ data }) => data.text)).toEqual(['[]', 'DISPATCH_ENDED']);
  });

  it('because the receiver ended meanwhile is in the log of the sender as sent and as failed', async () => {
    const gate = new Gate();
    let isSending = false;
    const slow = changedStore((inner) => ({
      async appendEvent(task, id, one) {
        if (isSending && one.type === 'agent:message_sent') await gate.opened;
        return inner.appendEvent(task, id, one);
      },
    }));
    const errors: unknown[] = [];
    const end = new Gate();
    const { start, log } = prepare(
      {
        async *lead(_request, host) {
          const { dispatchId } = await host.startWorker(worker('worker'));
          isSending = true;
          const sending = host
            .send({ to: dispatchId, text: 'Too late?' })
            .catch((error) => errors.push(error));
          await turn();
          end.open();
          await host.awaitWorker(dispatchId);
          gate.open();
          await sending;
          yield says('done');
        },
        async *worker() {
          await end.opened;
          yield says('done');
        },
      },
      slow,
    );
    await (await start()).ended;
    expect(errors.map(codeOf)).toEqual(['DISPATCH_ENDED']);
    const ofLead = await log('lead');
    const [sent] = sentIn(ofLead);
    expect(ofLead.find(({ type }) => type === 'harness:error')).toMatchObject({
      cause: sent?.id,
      data: { code: 'DISPATCH_ENDED' },
    });
    expect(messagesIn(await log('worker'))).toHaveLength(1);
  });

  it('from a dispatch that has ended is refused', async () => {
    const hosts: DispatchHost[] = [];
    let id = '';
    const gate = new Gate();
    const { start, log } = prepare({
      async *lead(_request, host) {
        hosts.push(host);
        id = (await host.startWorker(worker('worker'))).dispatchId;
        yield says('done');
      },
      async *worker() {
        yield says('working');
        await gate.opened;
      },
    });
    const run = await start();
    while ((await log('lead')).length === 0) await turn();
    for (let count = 0; count < 10; count += 1) await turn();
    expect(await hosts[0]?.send({ to: id, text: 'From the grave.' }).catch(codeOf)).toBe('DISPATCH_ENDED');
    gate.open();
    await run.ended;
    expect(messagesIn(await log('worker'))).toHaveLength(1);
  });
});

describe('two agents that answer each other', () => {
  const echoes: Script = async function* (request, host) {
    for await (const { data } of request.messages) {
      const { dispatchId: from } = data.source as JsonObject;
      try {
        await host.send({ to: String(from), text: `${data.text}!` });
      } catch (error) {
        yield says(codeOf(error));
        return;
      }
    }
  };

  it('stop at the limit, each with an error that says so', async () => {
    const { start, log } = prepare({
      async *lead(request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        await host.send({ to: dispatchId, text: 'Hey' });
        yield* echoes(request, host);
        await host.abortWorker(dispatchId);
      },
      worker: echoes,
    });
    await (await start({ workers: { maxMessages: 3 } })).ended;
    const [lead, other] = [await log('lead'), await log('worker')];
    expect([sentIn(lead).length, sentIn(other).length]).toEqual([3, 3]);
    expect(lead.at(-1)?.data.text).toBe('DISPATCH_MESSAGE_LIMIT');
  });

  it('may send more after a person spoke', async () => {
    const codes: string[] = [];
    const said = new Gate();
    const { start } = prepare({
      async *lead(request, host) {
        const { dispatchId } = await host.startWorker(worker('worker'));
        const send = () => host.send({ to: dispatchId, text: 'Hey' }).then(() => 'sent', codeOf);
        codes.push(await send(), await send());
        said.open();
        await received(request);
        codes.push(await send(), await send());
        await host.abortWorker(dispatchId);
        yield says('done');
      },
      worker: staysWith(),
    });
    const run = await start({ workers: { maxMessages: 1 } });
    await said.opened;
    await run.send('Go on.');
    await run.ended;
    expect(codes).toEqual(['sent', 'DISPATCH_MESSAGE_LIMIT', 'sent', 'DISPATCH_MESSAGE_LIMIT']);
  });
});

describe('a worker at the deepest level', () => {
  it('writes to its parent, and starts no workers', async () => {
    const seen: unknown[] = [];
    const { start, log } = prepare({
      async *lead(request, host) {
        await host.startWorker(worker('worker'));
        await received(request);
        yield says('done');
      },
      async *worker(_request, host) {
        const error = await host.startWorker(worker('helper')).catch((reason) => reason);
        seen.push(host.mayStart, dispatchErrors.is(error, 'DISPATCH_WORKER_LIMIT'));
        await host.send({ to: 'parent', text: 'I am alone.' });
        yield says('done');
      },
    });
    await (await start({ workers: { maxDepth: 1 } })).ended;
    expect(seen).toEqual([false, true]);
    expect(messagesIn(await log('lead'))).toHaveLength(1);
  });
});

it('a message without text is refused where it is sent, and in no log', async () => {
  const refused: unknown[] = [];
  const { start, log } = prepare({
    async *lead(request, host) {
      const { dispatchId } = await host.startWorker(worker('worker'));
      for (const text of ['', '\t', null])
        refused.push(await host.send({ to: dispatchId, text: text as string }).catch(codeOf));
      await host.send({ to: dispatchId, text: 'Go on.' });
      yield says(`heard ${(await received(request)).data.text}`);
    },
    worker: answers,
  });
  await (await start()).ended;
  expect(refused).toEqual(['DISPATCH_MESSAGE_EMPTY', 'DISPATCH_MESSAGE_EMPTY', 'DISPATCH_MESSAGE_EMPTY']);
  expect(sentIn(await log('lead'))).toHaveLength(1);
});

it('limits of messages that make no sense begin nothing', async () => {
  const { start } = prepare({ lead: starts() });
  for (const workers of [{ maxMessages: -1 }, { messages: 'everybody' as never }])
    await expect(start({ workers })).rejects.toMatchObject({ code: 'DISPATCH_OPTION_INVALID' });
});

/** One random talk of a family: who exists, sends, and ends is chosen by the seed. */
async function randomTalk(seed: number) {
  const random = randomFrom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const sent: { readonly text: string; readonly code: string | null }[] = [];
  const ids: string[] = [];
  let said = 0;
  const talks: Script = async function* (request, host) {
    ids.push(request.dispatchId);
    for (let step = 0; step < 2 + pick(6); step += 1) {
      for (let wait = pick(3); wait > 0; wait -= 1) await turn();
      if (host.mayStart && random() < 0.4) await host.startWorker(worker(`w${ids.length}`)).catch(() => {});
      const text = `${seed}-${said++}`;
      const to = random() < 0.3 ? 'parent' : (ids[pick(ids.length)] ?? 'LEAD');
      const code = await host.send({ to, text }).then(() => null, codeOf);
      sent.push({ text, code });
      if (random() < 0.2) yield event('agent:thinking', { text: 'Hm.' });
    }
    yield says('done');
  };
  const scripts = new Proxy({}, { get: () => talks });
  const { start, store } = prepare(scripts as Record<string, Script>);
  await (await start({ workers: { messages: 'all', maxMessages: 4 } })).ended;
  const envelopes = await store.getDispatchEnvelopes(taskDir);
  const logs = new Map<string, readonly CapturedEvent[]>();
  for (const { dispatchId } of envelopes)
    logs.set(dispatchId, await store.getDispatchEvents(taskDir, dispatchId));
  return { sent, logs };
}

const seeds = Array.from({ length: 60 }, (_, at) => 4_100 + at);

describe(`random talks of dispatches that run together (seeds ${seeds[0]} to ${seeds.at(-1)})`, () => {
  it('have each message once on both sides, or an error', async () => {
    let delivered = 0;
    const codes = new Set<string>();
    for (const seed of seeds) {
      const { sent, logs } = await randomTalk(seed);
      for (const { text, code } of sent) {
        const of = (type: string) =>
          [...logs].flatMap(([dispatchId, log]) =>
            log.flatMap((one) => (one.type === type && one.data.text === text ? [{ dispatchId, one }] : [])),
          );
        const [out, into] = [of('agent:message_sent'), of('user:message')];
        const where = `seed ${seed}, message ${text}`;
        if (code === null) {
          delivered += 1;
          expect([out.length, into.length], where).toEqual([1, 1]);
          expect(into[0]?.one.cause, where).toBe(out[0]?.one.id);
          expect(out[0]?.one.data.to, where).toEqual({ dispatchId: into[0]?.dispatchId });
          expect(into[0]?.one.data.source, where).toMatchObject({ dispatchId: out[0]?.dispatchId });
        } else {
          codes.add(code);
          expect(into.length, where).toBe(out.length === 0 ? 0 : into.length);
        }
      }
    }
    expect(delivered).toBeGreaterThan(100);
    expect([...codes].sort()).toEqual(['DISPATCH_ENDED', 'DISPATCH_MESSAGE_LIMIT', 'DISPATCH_NOT_REACHABLE']);
  });
});
