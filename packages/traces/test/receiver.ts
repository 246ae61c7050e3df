import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeLogs, decodeSpans, type ReceivedLog, type ReceivedSpan } from './decode-otlp.ts';

/** A receiver of OTLP over HTTP on the loopback. Like common backends, it keeps one span per id. */
export interface Receiver extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: ReadonlyMap<string, ReceivedSpan>;
  readonly logs: ReadonlyMap<string, ReceivedLog>;
  /** The body of every request, with its path. */
  readonly requests: readonly { readonly path: string; readonly body: string }[];
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** `answer` may send another reply to a body. */
export async function openReceiver(answer: (body: string) => Reply | null = () => null): Promise<Receiver> {
  const spans = new Map<string, ReceivedSpan>();
  const logs = new Map<string, ReceivedLog>();
  const requests: { path: string; body: string }[] = [];
  const take = (path: string, body: string): Reply => {
    const request: unknown = JSON.parse(body);
    if (path === '/v1/traces')
      for (const span of decodeSpans(request)) spans.set(`${span.traceId} ${span.spanId}`, span);
    else if (path === '/v1/logs')
      for (const log of decodeLogs(request)) logs.set(String(log.attributes['log.record.uid']), log);
    else return { status: 404, body: {} };
    return { status: 200, body: {} };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    const body = Buffer.concat(chunks).toString();
    requests.push({ path, body });
    const isJson = request.headers['content-type'] === 'application/json';
    const refused = { status: 415, body: {} };
    let reply: Reply;
    try {
      reply = answer(body) ?? (isJson && request.method === 'POST' ? take(path, body) : refused);
    } catch (error) {
      reply = { status: 400, body: { message: (error as Error).message } };
    }
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    logs,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
