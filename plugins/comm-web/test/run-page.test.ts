import { createServer } from 'node:net';
import { createCommunicationHub, runDispatch, startDispatch } from '@hansard/dispatch';
import type { AgentProvider } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { viewerErrors } from '@hansard/viewer';
import { expect, it } from 'vitest';
import { createRunPage, webErrors } from '../src/index.ts';
import { type Message, openClient, startedPage, taskDir } from './page-client.ts';

/** Writes half a text, waits for a message, and then records the text with it. */
const listener: AgentProvider = {
  contract: 1,
  async *run({ messages }) {
    yield { kind: 'delta', delta: { type: 'delta:text', text: 'I heard ' } };
    for await (const { data } of messages) {
      const text = `I heard ${String(data.text)}`;
      yield { kind: 'event', event: { type: 'agent:text', data: { text } } };
      return;
    }
  },
};

const textsOf = ({ event, data }: Message) =>
  event === 'writing' ? (data as { texts: { text: string }[] }).texts.map(({ text }) => text) : [];

it('shows a page that joins the text so far, delivers its message, and ends the text at the row that has it', async () => {
  const { store, communication, address } = await startedPage();
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: listener, communication });
  const client = await openClient(await address);
  expect(client.place.endsWith(run.dispatchId)).toBe(true);
  const joined = await client.live((message) => textsOf(message).includes('I heard '));
  expect(joined.map(({ event }) => event)).toEqual(['hello', 'writing']);
  expect(joined.at(-1)?.data).toMatchObject({
    isFirst: true,
    controls: { messages: true, abort: true },
    texts: [{ from: 0, end: 8 }],
  });
  const following = client.live(({ data }) => (data as { controls?: unknown }).controls === null);
  expect(await client.post('message', { text: 'a word' })).toEqual([200, undefined]);
  await run.ended;
  const seen = await following;
  const ends = seen.flatMap(({ event, data }) =>
    event === 'writing' ? (data as { ended: { position: number | null }[] }).ended : [],
  );
  // The message is at 0, what the agent says at 1.
  expect(ends.map(({ position }) => position)).toEqual([1]);
  expect(await store.getDispatchEvents(taskDir, run.dispatchId)).toMatchObject([
    { type: 'user:message', data: { text: 'a word', source: { kind: 'user' } } },
    { type: 'agent:text', data: { text: 'I heard a word' } },
  ]);
  expect(await client.post('message', { text: 'more' })).toEqual([409, 'VIEW_RUN_NOT_HERE']);
  expect(await client.post('abort', {})).toEqual([409, 'VIEW_RUN_NOT_HERE']);
});

it('ends the dispatch as aborted by the user, and its text with it', async () => {
  const { store, communication, address } = await startedPage();
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: listener, communication });
  const client = await openClient(await address);
  const following = client.live(({ data }) => (data as { controls?: unknown }).controls === null);
  expect(await client.post('abort', {})).toEqual([200, undefined]);
  expect((await run.ended).status).toBe('aborted');
  expect((await following).at(-1)?.data).toMatchObject({ texts: [] });
  expect(await store.getDispatchEvents(taskDir, run.dispatchId)).toMatchObject([
    { type: 'harness:abort', data: { reason: 'aborted on the page', by: 'user' } },
  ]);
});

it('gives open pages what is recorded before it closes, and asks them to leave', async () => {
  const { store, communication, page, address } = await startedPage({ clock: new ManualClock() });
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: listener, communication });
  const client = await openClient(await address);
  const joined = Promise.withResolvers<void>();
  const following = client.live((message) => {
    joined.resolve();
    return message.event === 'over';
  });
  await joined.promise;
  expect(await client.post('message', { text: 'last' })).toEqual([200, undefined]);
  await run.ended;
  await communication.close();
  // Time stands still: it ends because the page leaves.
  await page.close();
  const seen = await following;
  const ends = seen.flatMap(({ event, data }) =>
    event === 'message' ? [(data as { end: number }).end] : [],
  );
  expect([ends.at(-1), seen.at(-1)?.event]).toEqual([1, 'over']);
  await expect(fetch(client.place)).rejects.toThrow();
});

it('a page that never reads does not delay a run', async () => {
  const { store, communication, address } = await startedPage();
  const long: AgentProvider = {
    contract: 1,
    async *run({ messages }) {
      for await (const { data } of messages) {
        for (let at = 0; at < 2_000; at += 1)
          yield { kind: 'delta', delta: { type: 'delta:text', text: 'x'.repeat(1_000) } };
        yield { kind: 'event', event: { type: 'agent:text', data: { text: String(data.text) } } };
        return;
      }
    },
  };
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: long, communication });
  const url = await address;
  const client = await openClient(url);
  const first = await fetch(url, { redirect: 'manual' });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const leaving = new AbortController();
  const unread = await fetch(`${client.place}/live?after=-1`, {
    headers: { cookie },
    signal: leaving.signal,
  });
  expect(await client.post('message', { text: 'go' })).toEqual([200, undefined]);
  expect((await run.ended).status).toBe('completed');
  expect(unread.status).toBe(200);
  leaving.abort();
});

it('does not wait longer than a second for a page that stays', async () => {
  const clock = new ManualClock();
  const { store, communication, page, address } = await startedPage({ clock });
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: listener, communication });
  const client = await openClient(await address);
  const joined = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const staying = client.live(({ event }) => {
    joined.resolve();
    if (event === 'over') asked.resolve();
    return false;
  });
  await joined.promise;
  run.abort();
  await run.ended;
  await communication.close();
  let isClosed = false;
  const closing = page.close().then(() => {
    isClosed = true;
  });
  await asked.promise;
  await clock.advance(999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closing;
  await expect(staying).rejects.toThrow();
});

it('says with a code that there is no store, and that the port is in use', async () => {
  const host = {
    deliver: async () => false,
    abort: () => false,
    accepts: () => ({ messages: false, abort: false }),
    start: () => Promise.reject(new Error('not allowed')),
  };
  const page = createRunPage({ announce: () => {} });
  for (const store of [undefined, {}, { capabilities: {} }]) {
    const started = Promise.resolve(page.start?.(store === undefined ? host : { ...host, store }));
    await expect(started).rejects.toSatisfy((error) => webErrors.is(error, 'COMM_WEB_NO_STORE'));
  }
  await page.close();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const { store } = await startedPage();
  const problems: unknown[] = [];
  const late = createRunPage({ port, announce: () => {} });
  const hub = createCommunicationHub([late], {
    store,
    onProblem: (problem) => problems.push(problem.kind === 'call_failed' ? problem.error : problem),
  });
  await hub.start();
  const envelope = await runDispatch({
    store,
    taskDir,
    role: 'worker',
    agent: listener,
    communication: hub,
    limits: { timeMs: 1 },
  });
  expect(envelope.status).toBe('aborted');
  await hub.close();
  await late.close();
  server.close();
  expect(problems.map((problem) => viewerErrors.is(problem, 'VIEW_PORT_UNUSABLE'))).toEqual([true]);
});
