import { request } from 'node:http';
import { expect, it } from 'vitest';
import { createViewer } from '../src/index.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Not `fetch`, which decides about `Host`, `Origin` and `Sec-Fetch-Site` itself. */
function send(port: number, { method = 'GET', path = '/', headers = {} }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

const paths = [
  '/',
  '/app.js',
  '/api/tasks',
  '/api/dispatches',
  '/api/changes',
  '/api/d/a/b',
  '/api/d/a/b/live',
  '/none',
];

it.each(paths)('%s is answered to the own page only', async (path) => {
  const { viewer, running } = await startedViewer(await openStore());
  const { port } = running;
  const cookie = `hansard-${port}=${viewer.token}`;
  const table: readonly (readonly [code: number, Sent])[] = [
    [401, {}],
    [401, { headers: { cookie: `hansard-${port}=${'x'.repeat(viewer.token.length)}` } }],
    [401, { headers: { cookie: `hansard-${port}=` } }],
    [401, { headers: { cookie: `hansard=${viewer.token}` } }],
    [401, { headers: { cookie: `hansard-${port + 1}=${viewer.token}` } }],
    [421, { headers: { cookie, host: 'evil.example' } }],
    [421, { headers: { cookie, host: `evil.example:${port}` } }],
    [421, { headers: { cookie, host: '127.0.0.1' } }],
    [421, { headers: { cookie, host: `[::1]:${port}` } }],
    [403, { headers: { cookie, 'sec-fetch-site': 'cross-site' } }],
    [403, { headers: { cookie, 'sec-fetch-site': 'same-site' } }],
    [403, { headers: { cookie, origin: 'http://evil.example' } }],
    [403, { headers: { cookie, origin: 'null' } }],
    [403, { headers: { cookie, origin: `https://127.0.0.1:${port}` } }],
    [405, { method: 'POST', headers: { cookie } }],
    [405, { method: 'DELETE', headers: { cookie } }],
    [405, { method: 'OPTIONS', headers: { cookie } }],
  ];
  for (const [code, sent] of table)
    expect(await send(port, { path, ...sent }), JSON.stringify(sent)).toBe(code);
});

it('takes the token from the address once, and out of it', async () => {
  const { viewer, origin, running, get } = await startedViewer(await openStore());
  const answer = await fetch(running.url, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toBe('/');
  expect(answer.headers.get('set-cookie')).toBe(
    `hansard-${running.port}=${viewer.token}; Path=/; HttpOnly; SameSite=Strict`,
  );
  expect((await fetch(`${origin}/?t=${viewer.token}x`, { redirect: 'manual' })).status).toBe(401);
  expect((await fetch(`${origin}/api/tasks?t=${viewer.token}`)).status).toBe(401);
  const tasks = await get('/api/tasks', { 'sec-fetch-site': 'same-origin', origin });
  expect(tasks.status).toBe(200);
  expect(tasks.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
});

it('has addresses for one opening each, because others can read the arguments of the program that opens them', async () => {
  const { viewer, origin, running } = await startedViewer(await openStore());
  const [one, other] = [running.openOnce(), running.openOnce()];
  expect([one === other, one.includes(viewer.token)]).toEqual([false, false]);
  expect((await fetch(one, { method: 'HEAD', redirect: 'manual' })).status).toBe(401);
  const first = await fetch(one, { redirect: 'manual' });
  expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
  expect(first.headers.get('set-cookie')).toContain(`hansard-${running.port}=${viewer.token};`);
  expect((await fetch(one, { redirect: 'manual' })).status).toBe(401);
  const code = new URL(other).searchParams.get('once');
  for (const path of [`/api/tasks?once=${code}`, `/?once=${code}x`, '/?once=', `/?t=${code}`])
    expect([path, (await fetch(`${origin}${path}`, { redirect: 'manual' })).status]).toEqual([path, 401]);
  const foreign = { path: `/?once=${code}`, headers: { 'sec-fetch-site': 'cross-site' } };
  expect(await send(running.port, foreign)).toBe(403);
  expect((await fetch(other, { redirect: 'manual' })).status).toBe(303);
});

it('serves two viewers to one browser', async () => {
  const first = await startedViewer(await openStore());
  const second = await startedViewer(await openStore());
  const cookie = [first, second]
    .map(({ viewer, running }) => `hansard-${running.port}=${viewer.token}`)
    .join('; ');
  for (const { get } of [first, second]) expect((await get('/api/tasks', { cookie })).status).toBe(200);
});

it('answers no host before it is started, and holds no method that writes', async () => {
  const store = await openStore();
  const used: string[] = [];
  const seen = new Proxy(store, {
    get: (target, name) => {
      used.push(String(name));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const viewer = createViewer({ store: seen });
  expect((await viewer.app.request('/', { headers: { host: '127.0.0.1:1' } })).status).toBe(421);
  const { json } = await startedViewer(seen);
  await using dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1' });
  await dispatch.append({ type: 'agent:text', data: { text: 'one' } });
  await json('/api/tasks');
  await json('/api/dispatches');
  await json('/api/d/lab%2Ftasks%2Fmaps/d1/rows?last=5');
  const allowed = ['capabilities', 'listTasks', 'listDispatches', 'watch', 'findDispatch'];
  expect([...new Set(used)].filter((name) => !allowed.includes(name))).toEqual([]);
});
