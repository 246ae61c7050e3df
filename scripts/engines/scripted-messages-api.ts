import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request of the engine to the Messages API; only what scripts look at. */
export interface MessagesRequest {
  readonly model: string;
  readonly system?: unknown;
  readonly messages: readonly RequestMessage[];
  readonly tools?: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly stream?: boolean;
  readonly [field: string]: unknown;
}

interface RequestMessage {
  readonly role: string;
  readonly content: string | readonly RequestBlock[];
}

export interface RequestBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object };

interface ScriptedAnswer {
  readonly content: readonly AnswerBlock[];
  /** Over the default of 100 input and 20 output tokens and none of the cache. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly stopReason?: string;
  /** Holds a streamed answer when its first block has begun: it continues when this resolves. */
  readonly hold?: Promise<unknown>;
}

interface ScriptedFailure {
  /** The HTTP status, such as 529. */
  readonly status: number;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What a request is answered with. `index` counts the requests of one endpoint from 0. A script that waits holds its
 * answer: that is how a test makes the model slow.
 */
export type MessagesScript = (request: MessagesRequest, index: number) => Answer | Promise<Answer>;

type Answer = readonly AnswerBlock[] | ScriptedAnswer | ScriptedFailure;

/** One script at a base URL of its own. */
interface ScriptedEndpoint {
  /** For ANTHROPIC_BASE_URL. */
  readonly url: string;
  /** Every request for a message so far, in order. */
  readonly requests: readonly MessagesRequest[];
}

export interface ScriptedMessagesApi {
  serve(script: MessagesScript): ScriptedEndpoint;
  close(): Promise<void>;
}

/**
 * A Messages API on loopback, streaming and not, whose answers are scripted. One server serves many scripts, each at
 * its own URL. A script that throws answers 500 with what it threw, so that its test sees it.
 */
export async function startMessagesApi(): Promise<ScriptedMessagesApi> {
  const endpoints: { script: MessagesScript; requests: MessagesRequest[] }[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const [, index, path] = /^\/(\d+)(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const endpoint = endpoints[Number(index)];
    if (endpoint === undefined || path !== '/v1/messages') {
      sendJson(response, 200, { input_tokens: 10 });
      return;
    }
    const asked = JSON.parse(body) as MessagesRequest;
    const count = endpoint.requests.push(asked);
    try {
      await send(response, asked, await endpoint.script(asked, count - 1), `msg_${index}_${count}`);
    } catch (error) {
      sendJson(response, 500, failure(500, String(error)));
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    serve(script) {
      const requests: MessagesRequest[] = [];
      const index = endpoints.push({ script, requests }) - 1;
      return { url: `http://127.0.0.1:${port}/${index}`, requests };
    },
    async close() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The results of tools that the latest message of a request brings, by the ids of their calls. */
export function toolResultsIn(request: MessagesRequest): ReadonlyMap<string, RequestBlock> {
  const content = request.messages.at(-1)?.content;
  const blocks = typeof content === 'string' || content === undefined ? [] : content;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  return new Map(results.map((block) => [String(block.tool_use_id), block]));
}

/** All texts of the latest message of a request, in one. */
export function latestTextIn(request: MessagesRequest): string {
  const content = request.messages.at(-1)?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function send(
  response: ServerResponse,
  request: MessagesRequest,
  answer: Answer,
  id: string,
): Promise<void> {
  if ('status' in answer) {
    const { status, error = 'scripted failure', headers } = answer;
    sendJson(response, status, failure(status, error), headers);
    return;
  }
  const { content, usage, stopReason, hold } = 'content' in answer ? answer : { content: answer };
  const calls = content.some(({ type }) => type === 'tool_use');
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: content.map(withSignature),
    stop_reason: stopReason ?? (calls ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      ...usage,
    },
  };
  if (request.stream === true) await stream(response, message, hold);
  else sendJson(response, 200, message);
}

async function stream(
  response: ServerResponse,
  message: {
    readonly content: readonly AnswerBlock[];
    readonly stop_reason: string;
    readonly usage: Readonly<Record<string, number>>;
  },
  hold: Promise<unknown> | undefined,
): Promise<void> {
  const { content, stop_reason, usage } = message;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (type: string, fields: object) => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  event('message_start', { message: begun });
  for (const [index, block] of content.entries()) {
    const { start, deltas } = pieces(block);
    event('content_block_start', { index, content_block: start });
    for (const delta of deltas) event('content_block_delta', { index, delta });
    if (index === 0) await hold;
    event('content_block_stop', { index });
  }
  event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
  event('message_stop', {});
  response.end();
}

function pieces(block: AnswerBlock): { readonly start: object; readonly deltas: readonly object[] } {
  switch (block.type) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }] };
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: scriptedSignature },
        ],
      };
    case 'tool_use': {
      const partial_json = JSON.stringify(block.input);
      return { start: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
    }
  }
}

const scriptedSignature = 'scripted';

function withSignature(block: AnswerBlock): AnswerBlock {
  return block.type === 'thinking' ? Object.assign({ signature: scriptedSignature }, block) : block;
}

function failure(status: number, message: string): object {
  const type = status === 529 ? 'overloaded_error' : status === 401 ? 'authentication_error' : 'api_error';
  return { type: 'error', error: { type, message } };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
