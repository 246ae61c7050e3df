import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEventStream, type EventStream } from '@hansard/comm-web';
import { createCommunicationHub, openDispatchStore, startDispatch } from '@hansard/dispatch';
import { type CapturedEvent, newEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { followSession } from '../src/follow-session.ts';

const taskDir = 'shop/tasks/support';
const line = (number: number) => `Answer ${number}: ${'words and more words, '.repeat(10)}`;

/** Writes answers piece by piece, asks for an approval, and takes a message. It continues when `step` resolves. */
function writer(answers: number, step: () => Promise<void>): AgentProvider {
  return {
    contract: 1,
    async *run() {
      for (let number = 0; number < answers; number += 1) {
        const messageId = `m${number}`;
        for (const text of line(number).match(/.{1,40}/gs) ?? []) {
          yield { kind: 'delta', delta: { type: 'delta:text', messageId, text } };
          await step();
        }
        const asked = { toolCallId: `c${number}`, tool: 'pay', kind: 'approval', by: 'pay' } as const;
        yield { kind: 'event', event: newEvent('agent:text', { text: line(number) }, { messageId }) };
        yield { kind: 'event', event: newEvent('harness:approval_requested', asked) };
      }
    },
  };
}

async function prepared() {
  const store = openDispatchStore(createMemoryStore());
  const stream = createEventStream({ store });
  const communication = createCommunicationHub([stream], { store });
  await communication.start();
  onTestFinished(async () => {
    await communication.close();
    await store.close();
  });
  return { store, stream, communication };
}

/** Serves one session, and ends a connection after as many bytes as `allowed` gives. */
async function serve(stream: EventStream, dispatchId: string, allowed: () => number): Promise<string> {
  const send = async (response: ServerResponse, last: string | undefined) => {
    const headers = last === undefined ? {} : { 'last-event-id': last };
    const answer = await stream.respond(
      { taskDir, dispatchId },
      new Request('http://localhost', { headers }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    let left = allowed();
    for await (const chunk of answer.body ?? []) {
      response.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) continue;
      setImmediate(() => response.destroy());
      return;
    }
    response.end();
  };
  const server = createServer((request, response) => {
    void send(response, request.headers['last-event-id']?.toString());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([1, 2, 3])(
  'has every event once and true texts, with connections that end at random places (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const { store, stream, communication } = await prepared();
    let connections = 0;
    const go = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
    const run = await startDispatch({ store, taskDir, role: 'worker', agent: writer(15, go), communication });
    const url = await serve(stream, run.dispatchId, () => {
      connections += 1;
      return connections < 25 ? Math.floor(random() * 1_500) : Number.POSITIVE_INFINITY;
    });
    const events: [number, CapturedEvent][] = [];
    const lines = Array.from({ length: 15 }, (_, number) => line(number));
    let written = 0;
    const status = await followSession(url, {
      onEvent: ({ position, event }) => events.push([position, event]),
      onTexts(texts) {
        for (const text of texts.values()) {
          expect(lines.some((one) => one.startsWith(text))).toBe(true);
          written += 1;
        }
      },
      retryMs: 1,
    });
    await run.ended;
    expect(status).toBe((await store.getDispatchEnvelope(taskDir, run.dispatchId))?.status);
    const recorded = await store.getDispatchEvents(taskDir, run.dispatchId);
    expect(events.map(([position]) => position)).toEqual(recorded.map((_, position) => position));
    expect(events.map(([, { id }]) => id)).toEqual(recorded.map(({ id }) => id));
    expect(connections).toBeGreaterThan(5);
    expect(written).toBeGreaterThan(0);
  },
);

it('keeps little for a client that does not read, and does not delay the session', async () => {
  const { store, stream, communication } = await prepared();
  const long: AgentProvider = {
    contract: 1,
    async *run() {
      for (let at = 0; at < 2_000; at += 1) {
        yield { kind: 'delta', delta: { type: 'delta:text', messageId: 'm', text: 'x'.repeat(1_000) } };
        if (at === 10) client.resolve();
      }
      yield { kind: 'event', event: newEvent('agent:text', { text: 'x' }, { messageId: 'm' }) };
    },
  };
  const client = Promise.withResolvers<void>();
  const run = await startDispatch({ store, taskDir, role: 'worker', agent: long, communication });
  await client.promise;
  const answer = await stream.respond(
    { taskDir, dispatchId: run.dispatchId },
    new Request('http://localhost'),
  );
  await run.ended;
  const text = await answer.text();
  expect(text.length).toBeLessThan(100_000);
  expect(text.match(/^event: event$/gm)).toHaveLength(
    (await store.getDispatchEvents(taskDir, run.dispatchId)).length,
  );
  expect(text).toContain('event: end');
});

it('refuses a session that is not there and a position that is none', async () => {
  const { stream } = await prepared();
  const place = { taskDir, dispatchId: 'none' };
  expect((await stream.respond(place, new Request('http://localhost'))).status).toBe(404);
  const headers = { 'last-event-id': 'x' };
  expect((await stream.respond(place, new Request('http://localhost', { headers }))).status).toBe(400);
});
