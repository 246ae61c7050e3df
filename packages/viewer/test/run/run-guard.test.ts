import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createViewer, type ViewedRuns, viewerErrors } from '../../src/index.ts';
import { type Check, guard, guardChecks, OneTimeCodes } from '../../src/server/guard.ts';
import { runPath, runRoutes } from '../../src/server/viewed-runs.ts';
import { openStore } from '../viewed.ts';

const host = '127.0.0.1:4700';
const token = 'the-token-of-the-viewer';
const place = '/api/d/lab%2Ftasks%2Fmaps/d1';

interface Options {
  readonly checks?: readonly Check[];
  readonly most?: number;
}

function viewerWith({ checks = guardChecks, most }: Options = {}) {
  const received: unknown[] = [];
  const runs: ViewedRuns = {
    controls: () => ({ messages: true, abort: true }),
    texts: () => [],
    watch: () => () => {},
    send: async ({ taskDir, dispatchId }, text) => {
      received.push([taskDir, dispatchId, text]);
      return dispatchId === 'd1';
    },
    abort: ({ taskDir, dispatchId }) => {
      received.push([taskDir, dispatchId]);
      return dispatchId === 'd1';
    },
  };
  const app = new Hono();
  app.use(
    guard({
      token,
      hosts: () => [host, 'localhost:4700'],
      codes: new OneTimeCodes(),
      postPaths: [runPath],
      checks,
    }),
  );
  app.onError((error, context) => context.text(error.message, viewerErrors.is(error) ? 400 : 500));
  app.route('/api/d/:task/:id', runRoutes(runs, most));
  return { app, received };
}

interface Sent {
  readonly method?: string;
  /** Without a value: the header is not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

async function codeOf(
  app: Hono,
  path: string,
  { method = 'POST', headers = {}, body = '{"text":"go on"}' }: Sent,
) {
  const all: Readonly<Record<string, string | undefined>> = {
    host,
    origin: `http://${host}`,
    cookie: `hansard-4700=${token}`,
    'x-hansard': 'page',
    'content-type': 'application/json',
    'sec-fetch-site': 'same-origin',
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const answer = await app.request(path, { method, headers: sent, ...(hasBody ? { body } : {}) });
  return answer.status;
}

/** What must be refused, and by which check. */
const table: readonly (readonly [check: string, code: number, Sent])[] = [
  ['method', 405, { method: 'GET' }],
  ['method', 405, { method: 'HEAD' }],
  ['method', 405, { method: 'PUT' }],
  ['method', 405, { method: 'DELETE' }],
  ['method', 405, { method: 'OPTIONS' }],
  ['host', 421, { headers: { host: 'evil.example:4700', origin: 'http://evil.example:4700' } }],
  ['host', 421, { headers: { host: '127.0.0.1', origin: 'http://127.0.0.1' } }],
  ['site', 403, { headers: { 'sec-fetch-site': 'cross-site' } }],
  ['site', 403, { headers: { 'sec-fetch-site': 'same-site' } }],
  ['site', 403, { headers: { 'sec-fetch-site': 'none' } }],
  ['origin', 403, { headers: { origin: undefined } }],
  ['origin', 403, { headers: { origin: 'null' } }],
  ['origin', 403, { headers: { origin: 'http://evil.example' } }],
  ['origin', 403, { headers: { origin: `https://${host}` } }],
  ['origin', 403, { headers: { origin: 'http://127.0.0.1:4701' } }],
  ['origin', 403, { headers: { origin: 'http://localhost:4700' } }],
  ['header', 403, { headers: { 'x-hansard': undefined } }],
  ['header', 403, { headers: { 'x-hansard': 'other' } }],
  ['content type', 415, { headers: { 'content-type': undefined } }],
  ['content type', 415, { headers: { 'content-type': 'text/plain' } }],
  ['content type', 415, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ['content type', 415, { headers: { 'content-type': 'text/plain; application/json' } }],
  ['token', 401, { headers: { cookie: undefined } }],
  ['token', 401, { headers: { cookie: `hansard-4700=${'x'.repeat(token.length)}` } }],
  ['token', 401, { headers: { cookie: `hansard-4701=${token}` } }],
  // Without the token nobody learns more than that.
  ['token', 401, { headers: { cookie: undefined, 'content-type': 'text/plain' } }],
  ['size', 413, { body: JSON.stringify({ text: 'x'.repeat(70_000) }) }],
];

const paths = [`${place}/message`, `${place}/abort`];

it.each(paths)('%s takes what the own page sends, and nothing else', async (path) => {
  const { app, received } = viewerWith();
  for (const [check, code, sent] of table)
    expect([await codeOf(app, path, sent), check, sent]).toEqual([code, check, sent]);
  expect(received).toEqual([]);
  expect(await codeOf(app, path, {})).toBe(200);
  expect(await codeOf(app, path, { headers: { 'sec-fetch-site': undefined } })).toBe(200);
  expect(await codeOf(app, path, { headers: { 'content-type': 'application/json; charset=utf-8' } })).toBe(
    200,
  );
  expect(received).toHaveLength(3);
});

it.each(guardChecks.map(({ name }) => name))(
  'a guard without its check of the %s is caught',
  async (name) => {
    const { app } = viewerWith({ checks: guardChecks.filter((check) => check.name !== name) });
    for (const path of paths) {
      const wrong = await Promise.all(
        table.map(async ([check, code, sent]) => ((await codeOf(app, path, sent)) === code ? [] : [check])),
      );
      expect([...new Set(wrong.flat())]).toEqual([name]);
    }
  },
);

it('bodies without a limit are caught', async () => {
  const { app } = viewerWith({ most: 1_000_000 });
  const large = table.find(([check]) => check === 'size');
  expect(await codeOf(app, `${place}/message`, large?.[2] ?? {})).toBe(200);
});

it('refuses what is not a message, with a code', async () => {
  const { app, received } = viewerWith();
  for (const body of ['', 'text', '[]', 'null', '{}', '{"text":1}', '{"text":" "}'])
    expect([body, await codeOf(app, `${place}/message`, { body })]).toEqual([body, 400]);
  for (const body of ['', '[]', '1']) expect(await codeOf(app, `${place}/abort`, { body })).toBe(400);
  expect(received).toEqual([]);
  expect(await codeOf(app, place.replace('d1', 'd2/message'), {})).toBe(400);
});

it('a viewer without runs takes no POST, and one with runs takes no other', async () => {
  const store = await openStore();
  const viewer = createViewer({ store });
  const running = await viewer.start();
  const headers = {
    cookie: `hansard-${running.port}=${viewer.token}`,
    origin: `http://127.0.0.1:${running.port}`,
    'x-hansard': 'page',
    'content-type': 'application/json',
  };
  const body = '{"text":"go on"}';
  const answer = await fetch(`http://127.0.0.1:${running.port}${place}/message`, {
    method: 'POST',
    headers,
    body,
  });
  expect(answer.status).toBe(405);
  await running.close();
  const { app } = viewerWith();
  for (const path of [
    '/',
    '/api/tasks',
    `${place}/rows`,
    `${place}/message/more`,
    '/api/d/message',
    `${place}//message`,
  ])
    expect([path, await codeOf(app, path, {})]).toEqual([path, 405]);
});
