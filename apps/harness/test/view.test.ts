import { createServer } from 'node:net';
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
