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
  const viewing = line.start(['view', 'a/b', 'latest', '--json'], {
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
  const missing = await line.hansard('view', 'a/b', 'none');
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
