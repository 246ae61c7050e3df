import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { type CommandLine, commandFromSource, commandLine } from './command-line.ts';

const scenario = `
user: [Hello.]
agents: { root: [{ say: Good day. }, { when: { contains: lamp }, say: I have stopped. }] }
`;

/** A conversation that waits for what somebody types, after its first answer. */
async function talking(line: CommandLine) {
  writeFileSync(join(line.cwd, 'talk.yaml'), scenario);
  const stdin = new PassThrough();
  let out = '';
  const said = (text: string) => expect.poll(() => out, { timeout: 30_000 }).toContain(text);
  const ended = line.start(['chat', 'talk.yaml', '-i'], {
    signal: new AbortController().signal,
    stdin,
    onOutput: (text) => {
      out += text;
    },
  });
  await said('Good day.');
  return { stdin, said, ended };
}

const textsOf = async (line: CommandLine) =>
  (await line.hansard('show', 'latest', '--raw', '--json')).json().flatMap((event) => {
    const { data } = event as { data: { text?: string } };
    return data.text === undefined ? [] : [data.text];
  });

it('reaches a session that runs, once, and its agent answers', async () => {
  using line = commandLine();
  const chat = await talking(line);
  const sent = await line.hansard('send', 'latest', 'Stop at the next lamp.', '--json');
  expect([sent.code, sent.json()]).toEqual([0, [expect.objectContaining({ state: 'taken' })]]);
  await chat.said('I have stopped.');
  chat.stdin.end();
  expect((await chat.ended).code).toBe(0);
  const texts = await textsOf(line);
  expect(texts.filter((text) => text === 'Stop at the next lamp.')).toHaveLength(1);
  expect((await line.hansard('ls', '--json')).json()).toHaveLength(1);
  expect((await line.hansard('search', 'lamp', '--json')).json()).toHaveLength(1);
});

it('waits for a session whose process was killed, with an exit code of its own, and is taken when it is resumed', async () => {
  using line = commandLine();
  writeFileSync(join(line.cwd, 'talk.yaml'), scenario);
  const args = [...commandFromSource, 'chat', 'talk.yaml', '-i'];
  const env = { PATH: process.env.PATH, HOME: line.cwd };
  const chat = spawn(process.execPath, args, { cwd: line.cwd, env });
  for await (const text of chat.stdout) if (String(text).includes('Good day.')) break;
  const gone = once(chat, 'exit');
  chat.kill('SIGKILL');
  await gone;
  const sent = await line.hansard('send', 'latest', 'Stop at the next lamp.');
  expect([sent.code, sent.err]).toEqual([5, expect.stringContaining('hansard chat --resume SESSION')]);
  const resumed = await line.hansard('chat', 'talk.yaml', '--resume', 'latest');
  expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining('I have stopped.') });
  expect((await textsOf(line)).filter((text) => text === 'Stop at the next lamp.')).toHaveLength(1);
});

it('refuses an unknown agent, an empty text and a session that has ended', async () => {
  using line = commandLine();
  writeFileSync(join(line.cwd, 'talk.yaml'), scenario);
  const chat = await talking(line);
  expect(await line.hansard('send', 'latest', 'Hello', '--agent', 'zoe')).toMatchObject({ code: 1 });
  expect((await line.hansard('send', 'latest', '')).code).not.toBe(0);
  expect((await line.hansard('send', 'latest', '--agent', 'zoe', '--abort')).code).toBe(2);
  chat.stdin.end();
  await chat.ended;
  const late = await line.hansard('send', 'latest', 'Too late.');
  expect(late.code).toBe(1);
  expect(await textsOf(line)).not.toContain('Too late.');
});

it('stops a session with a reason', async () => {
  using line = commandLine();
  const chat = await talking(line);
  expect((await line.hansard('send', 'latest', '--abort', 'wrong branch')).code).toBe(0);
  expect((await chat.ended).code).not.toBe(0);
  expect((await line.hansard('show', 'latest')).out).toContain('wrong branch');
});
