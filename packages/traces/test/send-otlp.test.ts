import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { sendOtlp, traceDispatches, traceErrors } from '../src/index.ts';
import { openReceiver } from './receiver.ts';
import { event, oneDispatch, sampleRun } from './sample-run.ts';

it('reaches a receiver that checks each field, and a second export adds nothing', async () => {
  await using receiver = await openReceiver();
  const sent = await sendOtlp(traceDispatches(sampleRun, { content: 'events' }), `${receiver.endpoint}/`);
  expect(sent).toEqual({ spans: receiver.spans.size, logs: receiver.logs.size, refused: [] });
  expect(sent.spans).toBe(13);
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/logs']));
  for (const { parentSpanId, traceId, start, end, links } of receiver.spans.values()) {
    expect(parentSpanId === undefined || receiver.spans.has(`${traceId} ${parentSpanId}`)).toBe(true);
    expect(links.every((link) => receiver.spans.has(`${link.traceId} ${link.spanId}`))).toBe(true);
    expect(end >= start).toBe(true);
  }

  const [spans, logs, first] = [new Map(receiver.spans), new Map(receiver.logs), receiver.requests.length];
  await sendOtlp(traceDispatches(sampleRun, { content: 'events' }), receiver.endpoint);
  expect(receiver.spans).toEqual(spans);
  expect(receiver.logs).toEqual(logs);
  expect(receiver.requests.slice(first)).toEqual(receiver.requests.slice(0, first));
});

/** A dispatch of tool calls whose inputs have these lengths. */
function callsOf(lengths: readonly number[]) {
  return oneDispatch(
    lengths.flatMap((length, at) => [
      event(`c${at}`, at * 2 + 1, 'agent:tool_call', {
        toolCallId: `k${at}`,
        tool: `Tool${at}`,
        metadata: { input: 'x'.repeat(length) },
      }),
      event(`r${at}`, at * 2 + 2, 'agent:tool_result', {
        toolCallId: `k${at}`,
        tool: `Tool${at}`,
        metadata: {},
        status: 'completed',
        output: 'ok',
      }),
    ]),
  );
}

async function spansOf(source: ReturnType<typeof callsOf>): Promise<number> {
  let spans = 0;
  for await (const { kind } of traceDispatches(source, { content: 'spans' })) if (kind === 'span') spans += 1;
  return spans;
}

it('sends requests of at most 2 MiB', async () => {
  await using receiver = await openReceiver();
  const source = callsOf(Array.from({ length: 60 }, () => 150_000));
  const sent = await sendOtlp(traceDispatches(source, { content: 'spans' }), receiver.endpoint);
  expect([sent.spans, sent.refused]).toEqual([await spansOf(source), []]);
  expect(receiver.spans.size).toBe(sent.spans);
  const longest = Math.max(...receiver.requests.map(({ body }) => body.length));
  expect(longest).toBeLessThanOrEqual(2 * 1024 * 1024);
  expect(longest).toBeGreaterThan(1024 * 1024);
});

it.each([8_000, 16_000, 32_000])(
  'halves a request that a receiver with a limit of %i bytes refuses, and names each span that is too large alone',
  async (limit) => {
    await using receiver = await openReceiver((body) =>
      body.length > limit ? { status: 413, body: { message: 'too large' } } : null,
    );
    const source = callsOf(Array.from({ length: 40 }, (_, at) => (at % 9 === 4 ? limit : 2_000 + at)));
    const sent = await sendOtlp(traceDispatches(source, { content: 'spans' }), receiver.endpoint);
    const all = await spansOf(source);
    const refused = sent.refused.filter(({ kind }) => kind === 'span');
    expect(sent.spans).toBe(receiver.spans.size);
    expect(receiver.spans.size + refused.length).toBe(all);
    expect(refused.map(({ name }) => name)).toEqual([4, 13, 22, 31].map((at) => `execute_tool Tool${at}`));
    for (const { traceId, spanId } of refused) expect(receiver.spans.has(`${traceId} ${spanId}`)).toBe(false);
  },
);

it('waits for the receiver, and reads no further in the meantime', async () => {
  let read = 0;
  const most: number[] = [];
  await using receiver = await openReceiver(() => {
    most.push(read);
    return null;
  });
  const source = {
    ...oneDispatch([]),
    async *readEvents() {
      for (; read < 2_000; ) {
        read += 1;
        yield event(`s${read}`, read, 'session:status', {});
      }
    },
  };
  await sendOtlp(traceDispatches(source), receiver.endpoint);
  expect(most).toEqual([512, 1_024, 1_536, 2_000, 2_000]);
});

it('reports the answer of a receiver that refuses', async () => {
  await using receiver = await openReceiver(() => ({ status: 403, body: { message: 'no such key' } }));
  const error: unknown = await sendOtlp(traceDispatches(sampleRun), receiver.endpoint).catch(
    (reason) => reason,
  );
  expect(traceErrors.is(error, 'TRACE_RECEIVER_FAILED') && error.message).toMatch(/403 .*no such key/);
  expect(traceErrors.is(error) && error.details.status).toBe(403);
  expect(receiver.requests.length).toBe(1);
});

it('reports that a receiver accepted only a part', async () => {
  const partialSuccess = { rejectedSpans: '3', errorMessage: 'too old' };
  await using receiver = await openReceiver(() => ({ status: 200, body: { partialSuccess } }));
  const error: unknown = await sendOtlp(traceDispatches(sampleRun), receiver.endpoint).catch(
    (reason) => reason,
  );
  expect(traceErrors.is(error, 'TRACE_RECEIVER_REJECTED') && error.message).toMatch(/3 rejected. too old/);
});

it('reports a receiver that does not answer', async () => {
  const gone = await openReceiver();
  await gone[Symbol.asyncDispose]();
  const sending = sendOtlp(traceDispatches(sampleRun), gone.endpoint, { timeoutMs: 200 });
  const error: unknown = await sending.catch((reason) => reason);
  expect(traceErrors.is(error, 'TRACE_RECEIVER_FAILED') && error.message).toMatch(/ECONNREFUSED/);
});

it.each(['', 'localhost:4318', 'ftp://x', 'http://x/?key=1'])(
  'refuses %j as an address',
  async (endpoint) => {
    const error: unknown = await sendOtlp(traceDispatches(sampleRun), endpoint).catch((reason) => reason);
    expect(traceErrors.is(error, 'TRACE_ENDPOINT_INVALID')).toBe(true);
  },
);

it.each([
  'http://ann:hunter2@127.0.0.1:1',
  'https://hunter2@127.0.0.1:1/otlp',
  'ftp://ann:hunter2@x',
  'ann:hunter2@x:4318',
  'http://x:4318/?key=hunter2',
  'http://x:4318/#hunter2',
  'http://ann:p@hunter2@x y',
])('never shows the user, password or query of an address: %s', async (endpoint) => {
  const error: unknown = await sendOtlp(traceDispatches(sampleRun), endpoint, { timeoutMs: 200 }).catch(
    (reason) => reason,
  );
  expect(traceErrors.is(error)).toBe(true);
  expect(inspect(error, { depth: 9 })).toContain('(hidden)');
  expect(inspect(error, { depth: 9 })).not.toContain('hunter2');
});
