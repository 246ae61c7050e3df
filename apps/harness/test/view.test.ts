import { chmodSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandLine, demoStream } from './command-line.ts';

it('prints an address that shows the dispatch until Ctrl-C, and then answers no more', async () => {
  using line = commandLine();
  await line.hansard('run', demoStream('subagent'), '--task', 'a/b');
  const ending = new AbortController();
  const printed = Promise.withResolvers<string>();
  const viewing = line.start(['view', 'a/b/latest', '--json'], {
    signal: ending.signal,
    onOutput: printed.resolve,
  });
  const { address } = JSON.parse(await printed.promise) as { address: string };
  const url = new URL(address);
  expect(url.hash).toMatch(/^#\/d\/a%2Ftasks%2Fb\/[\w-]+$/);
  const first = await fetch(url, { redirect: 'manual' });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const rows = await fetch(`${url.origin}/api${url.hash.slice(1)}/rows?last=3`, { headers: { cookie } });
  const page = (await rows.json()) as { size: number; rows: { position: number; text: string }[] };
  expect(page.size).toBe(3);
  expect(page.rows.map(({ text }) => text).join('')).not.toBe('');
  ending.abort();
  expect((await viewing).code).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

it('says that a port is in use, and that there is no such dispatch', async () => {
  using line = commandLine();
  await line.hansard('run', demoStream('subagent'), '--task', 'a/b');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const used = await line.hansard('view', '--port', String(port));
  server.close();
  expect([used.code, used.err]).toEqual([1, expect.stringContaining(`Port ${port} is in use.`)]);
  const missing = await line.hansard('view', 'a/b/none');
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('none')]);
});

/** A folder with the openers of all platforms, which write what they are asked to open into a file and end with a status. */
function openers(cwd: string, status: number) {
  const folder = join(cwd, 'openers');
  mkdirSync(folder);
  const opened = join(folder, 'opened');
  for (const program of ['xdg-open', 'open']) {
    writeFileSync(
      join(folder, program),
      `#!/bin/sh\necho "$1" > '${opened}.new'\nmv '${opened}.new' '${opened}'\nexit ${status}\n`,
    );
    chmodSync(join(folder, program), 0o755);
  }
  return { env: { PATH: `${folder}:/usr/bin:/bin` }, folder, opened };
}

it.skipIf(process.platform === 'win32')(
  'opens the page with an address that does not have the token, and is valid once',
  async () => {
    using line = commandLine();
    await line.hansard('run', demoStream('subagent'), '--task', 'a/b');
    const { env, folder, opened } = openers(line.cwd, 0);
    const isOpened = Promise.withResolvers<void>();
    const watcher = watch(folder, (_, name) => name === 'opened' && isOpened.resolve());
    const ending = new AbortController();
    const viewing = line.start(['view', 'a/b', '--open'], { signal: ending.signal, env });
    await isOpened.promise;
    watcher.close();
    const address = readFileSync(opened, 'utf8').trim();
    const url = new URL(address);
    expect(url.hash).toBe('#/t/a%2Ftasks%2Fb');
    const codes = [await fetch(url, { redirect: 'manual' }), await fetch(url, { redirect: 'manual' })];
    expect(codes.map(({ status }) => status)).toEqual([303, 401]);
    ending.abort();
    const { code, out, err } = await viewing;
    expect([code, err]).toEqual([
      0,
      'Open this address in a browser of this machine. Ctrl-C ends the viewer.\n',
    ]);
    const token = new URL(out.trim()).searchParams.get('t') ?? 'none';
    expect(address).not.toContain(token);
  },
);

it.skipIf(process.platform === 'win32').each([
  ['there is no opener', null, 'VIEW_NO_OPENER: There is no '],
  ['the opener fails', 4, 'VIEW_OPENER_FAILED: '],
])('says with a code that %s, and shows the page all the same', async (_, status, expected) => {
  using line = commandLine();
  const env = status === null ? { PATH: join(line.cwd, 'none') } : openers(line.cwd, status).env;
  const ending = new AbortController();
  const printed = Promise.withResolvers<string>();
  const noted = Promise.withResolvers<string>();
  const onError = (text: string) => text.startsWith('VIEW_') && noted.resolve(text);
  const options = { signal: ending.signal, env, onOutput: printed.resolve, onError };
  const viewing = line.start(['view', '--open'], options);
  expect((await fetch((await printed.promise).trim(), { redirect: 'manual' })).status).toBe(303);
  expect(await noted.promise).toMatch(new RegExp(`^${expected}.*Open the printed address yourself.\n$`));
  ending.abort();
  expect((await viewing).code).toBe(0);
});

it('keeps one token in a file that only its owner can read, and prints an address without it', async () => {
  using line = commandLine();
  const addresses: string[] = [];
  const tokens: string[] = [];
  for (const turn of [1, 2]) {
    const ending = new AbortController();
    const printed = Promise.withResolvers<string>();
    const args = ['view', '--token-file', 'token', '--json'];
    const viewing = line.start(args, { signal: ending.signal, onOutput: printed.resolve });
    const { address } = JSON.parse(await printed.promise) as { address: string };
    const token = readFileSync(join(line.cwd, 'token'), 'utf8').trim();
    addresses.push(address);
    tokens.push(token);
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(401);
    expect((await fetch(`${address}?t=${token}`, { redirect: 'manual' })).status).toBe(303);
    ending.abort();
    const { err } = await viewing;
    expect(err.includes('Made a token in ')).toBe(turn === 1);
    expect(err).toContain('/?t=TOKEN in a browser of this machine first, with the token in token.');
  }
  expect(new Set(tokens).size).toBe(1);
  for (const address of addresses) expect(address).not.toContain(tokens[0]);
  const unusable: readonly (readonly [content: string, mode: number, message: string])[] = [
    ['short', 0o600, 'has no token'],
    ['', 0o600, 'has no token'],
    [`${tokens[0]} and more`, 0o600, 'has no token'],
    ...(process.platform === 'win32' ? [] : [[`${tokens[0]}`, 0o640, 'Other users'] as const]),
  ];
  for (const [content, mode, message] of unusable) {
    writeFileSync(join(line.cwd, 'token'), content);
    chmodSync(join(line.cwd, 'token'), mode);
    const { code, err } = await line.hansard('view', '--token-file', 'token');
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  }
  mkdirSync(join(line.cwd, 'folder'));
  const { code, err } = await line.hansard('view', '--token-file', 'folder');
  expect([code, err]).toEqual([1, expect.stringContaining('is not a file')]);
});

it('listens at another address only with a token file, and says that there is no TLS', async () => {
  using line = commandLine();
  const refused = await line.hansard('view', '--host', '0.0.0.0');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('VIEW_TOKEN_NEEDED')]);
  expect(refused.err).toContain('--token-file');
  const foreign = await line.hansard('view', '--host', '192.0.2.1', '--token-file', 'token');
  expect([foreign.code, foreign.err]).toEqual([
    2,
    expect.stringContaining('192.0.2.1 is not an address of this machine.'),
  ]);
  // Linux has every address of 127.0.0.0/8. Other platforms have one of them.
  const host = process.platform === 'linux' ? '127.0.0.2' : 'localhost';
  const ending = new AbortController();
  const printed = Promise.withResolvers<string>();
  const args = ['view', '--host', host, '--token-file', 'token'];
  const viewing = line.start(args, { signal: ending.signal, onOutput: printed.resolve });
  const address = (await printed.promise).trim();
  expect(new URL(address).hostname).toBe(host);
  const token = readFileSync(join(line.cwd, 'token'), 'utf8').trim();
  expect((await fetch(`${address}?t=${token}`, { redirect: 'manual' })).status).toBe(303);
  ending.abort();
  expect((await viewing).err).toContain(
    'There is no TLS: who can read the traffic between can read the token',
  );
});
