import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

/** An agent that writes half a text, and records the message that it gets. */
const agent = `export default { id: 'listener', provides: 'AgentProvider', create: () => ({
  contract: 1,
  async *run({ messages }) {
    yield { kind: 'delta', delta: { type: 'delta:text', text: 'I heard ' } };
    for await (const { data } of messages) {
      yield { kind: 'event', event: { type: 'agent:text', data: { text: 'I heard ' + data.text } } };
      return;
    }
  },
}) };`;

function project(): CommandLine {
  const line = commandLine();
  const folder = join(line.cwd, 'listener');
  mkdirSync(folder);
  const manifest = { id: 'listener', provides: 'AgentProvider', entry: './index.mjs', apiVersion: 1 };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'index.mjs'), agent);
  writeFileSync(join(line.cwd, 'hansard.config.json'), JSON.stringify({ plugins: ['./listener'] }));
  return line;
}

/** A run with its page, and what the page can send. */
async function viewed(line: CommandLine, ...more: string[]) {
  const printed = Promise.withResolvers<URL>();
  let errors = '';
  const running = line.start(['run', 'Listen.', '--agent', 'listener', '--task', 'a/b', '--view', ...more], {
    signal: new AbortController().signal,
    onError: (text) => {
      errors += text;
      const [, address] = /^The page of this run: (\S+)\n/m.exec(errors) ?? [];
      if (address !== undefined) printed.resolve(new URL(address));
    },
  });
  const url = await Promise.race([
    printed.promise,
    running.then(({ err }) => {
      throw new Error(`It ended without an address: ${err}`);
    }),
  ]);
  const first = await fetch(url, { redirect: 'manual' });
  const headers = {
    cookie: first.headers.get('set-cookie')?.split(';')[0] ?? '',
    origin: url.origin,
    'x-hansard': 'page',
    'content-type': 'application/json',
  };
  const post = (path: string, body: unknown) =>
    fetch(`${url.origin}/api${url.hash.slice(1)}/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
  return { running, url, post };
}

it('prints an address while it runs, whose page sends messages to the agent, and ends with the run', async () => {
  using line = project();
  const { running, url, post } = await viewed(line, '--json');
  expect(url.hash).toMatch(/^#\/d\/a%2Ftasks%2Fb\/[\w-]+$/);
  expect((await post('message', { text: 'a word' })).status).toBe(200);
  const { code, out } = await running;
  expect([code, JSON.parse(out)]).toMatchObject([0, { status: 'completed' }]);
  await expect(fetch(url)).rejects.toThrow();
  const events = (await line.hansard('events', 'a/b', 'latest', '--type', 'user:message', '--json')).json();
  expect(events.at(-1)).toMatchObject({ data: { text: 'a word', source: { kind: 'user' } } });
});

it('ends as aborted from its page, also without the console', async () => {
  using line = project();
  const { running, post } = await viewed(line, '--quiet');
  expect((await post('abort', {})).status).toBe(200);
  const { code, err } = await running;
  expect([code, err]).toEqual([1, expect.stringContaining('aborted')]);
  const events = (await line.hansard('events', 'a/b', 'latest', '--type', 'harness:*', '--json')).json();
  expect(events).toMatchObject([{ data: { reason: 'aborted on the page', by: 'user' } }]);
});

it('has the page from its configuration alone, once', async () => {
  using line = commandLine();
  writeFileSync(
    join(line.cwd, 'hansard.config.json'),
    JSON.stringify({ communication: ['@hansard/comm-web'] }),
  );
  const { code, err } = await line.process('run', demoStream('subagent'), '--task', 'a/b', '--view');
  expect([
    code,
    err.match(/^The page of this run: http:\/\/127\.0\.0\.1:\d+\/\?t=\S+#\/d\/a%2Ftasks%2Fb\/\S+$/gm)?.length,
  ]).toEqual([0, 1]);
});
