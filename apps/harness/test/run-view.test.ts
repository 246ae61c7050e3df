import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
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

/** A command with a page, and its address. */
async function withAddress(line: CommandLine, args: readonly string[], stdin = new PassThrough()) {
  const printed = Promise.withResolvers<URL>();
  let errors = '';
  const running = line.start(args, {
    stdin,
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
  return { running, url, cookie: first.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

/** A run with its page, and what the page can send. */
async function viewed(line: CommandLine, ...more: string[]) {
  const args = ['run', 'Listen.', '--agent', 'listener', '--task', 'a/b', '--view', ...more];
  const { running, url, cookie } = await withAddress(line, args);
  const headers = {
    cookie,
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
  const events = (
    await line.hansard('show', 'a/b/latest', '--raw', '--type', 'user:message', '--json')
  ).json();
  expect(events.at(-1)).toMatchObject({ data: { text: 'a word', source: { kind: 'user' } } });
});

it('ends as aborted from its page, also without the console', async () => {
  using line = project();
  const { running, post } = await viewed(line, '--quiet');
  expect((await post('abort', {})).status).toBe(200);
  const { code, err } = await running;
  expect([code, err]).toEqual([1, expect.stringContaining('aborted')]);
  const events = (await line.hansard('show', 'a/b/latest', '--raw', '--type', 'harness:*', '--json')).json();
  expect(events).toMatchObject([{ data: { reason: 'aborted on the page', by: 'user' } }]);
});

it('shows a conversation, which takes messages and can be stopped', async () => {
  using line = commandLine();
  writeFileSync(join(line.cwd, 'talk.yaml'), 'user: [Hello.]\nagents: { root: [{ say: Good day. }] }\n');
  const stdin = new PassThrough();
  const { running, url, cookie } = await withAddress(
    line,
    ['chat', 'talk.yaml', '-i', '--quiet', '--view'],
    stdin,
  );
  const ending = new AbortController();
  const answer = await fetch(`${url.origin}/api${url.hash.slice(1)}/live?after=-1`, {
    headers: { cookie },
    signal: ending.signal,
  });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('Good day.') && text.includes('event: writing')) break;
  }
  expect(text).toContain('"controls":{"messages":true,"abort":true}');
  ending.abort();
  stdin.end();
  expect((await running).code).toBe(0);
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
