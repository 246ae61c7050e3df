import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { writeScenario } from './market-scenario.ts';
import { envelopesOf, eventsOf } from './read-back.ts';

const manifest = { id: 'guard', provides: 'HookProvider', entry: './guard.mjs', apiVersion: 1 };
const hook = `export default { id: 'guard', provides: 'HookProvider', create: () => ({
  contract: 1, name: 'Guard',
  decide: ({ on }) => (on === 'tool_call' ? { decision: 'ask', reason: 'it creates an agent' } : { decision: 'allow' }),
}) };
`;

/** A scenario whose agent creates another one, about which a hook asks a person. */
function prepared(code = hook): CommandLine {
  const line = commandLine();
  mkdirSync(join(line.cwd, 'guard'));
  writeFileSync(join(line.cwd, 'guard/plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(line.cwd, 'guard/guard.mjs'), code);
  writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "communication": [] }');
  const jill = { tool: 'task', input: { name: 'Jill', system_prompt: 'You paint.' } };
  const root = [{ call: [jill] }, { say: 'Done.', repeat: true }];
  writeScenario(line.cwd, 'talk.yaml', {
    hooks: [{ plugin: './guard' }],
    user: ['Get a painter.'],
    agents: { root },
  });
  return line;
}

const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
};
const pendingIn = async (line: CommandLine) =>
  (await line.hansard('ls', '--pending', '--json')).json() as { toolCallId: string; dispatchId: string }[];

describe('hansard approve', () => {
  it('answers a call of a session that runs, and refuses a second answer; ls --pending lists the call meanwhile', async () => {
    using line = prepared();
    const chat = line.hansard('chat', 'talk.yaml', '--json');
    await until(async () => (await pendingIn(line)).length === 1);
    const listed = await line.hansard('ls', '--pending');
    expect(listed.out).toMatch(/task +approval +agent_001/);
    expect(await line.hansard('approve', 'latest', 'nothing')).toMatchObject({ code: 1 });
    const taken = await line.hansard('approve', 'latest', '--note', 'one is enough');
    expect(taken).toMatchObject({ code: 0, out: expect.stringContaining('Taken') });
    expect((await chat).json()).toMatchObject([{ text: 'Done.' }]);
    const events = await eventsOf(line, 'chat/talk');
    const given = events.find(({ type }) => type === 'harness:approval_given');
    expect(given).toMatchObject({ data: { by: 'user', note: 'one is enough' } });
    expect(events.filter(({ type, data }) => type === 'agent:created' && data.name === 'Jill')).toHaveLength(
      1,
    );
    const call = events.find(({ type }) => type === 'agent:tool_call')?.id ?? '';
    expect(await line.hansard('approve', 'latest', call)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Refused'),
    });
    expect((await line.hansard('ls', '--pending')).out).toContain('No call waits for a person.');
  });

  it('leaves the answer for the next process if nobody records the session, with an exit code of its own', async () => {
    using line = prepared();
    const stop = new AbortController();
    const chat = line.start(['chat', 'talk.yaml'], { signal: stop.signal });
    await until(async () => (await pendingIn(line)).length === 1);
    stop.abort('SIGINT');
    expect((await chat).err).toContain('1 calls wait for a person');
    expect(await envelopesOf(line, 'chat/talk')).toMatchObject([{ status: 'running' }]);
    expect(await line.hansard('approve', 'latest', '--refuse', '--note', 'alone')).toMatchObject({ code: 5 });
    expect((await line.hansard('chat', '--resume', 'chat/talk', '--json')).json()).toMatchObject([
      { text: 'Done.' },
    ]);
    const events = await eventsOf(line, 'chat/talk');
    const result = events.find(({ type }) => type === 'agent:tool_result');
    expect(result?.data).toMatchObject({ status: 'error', error: 'Error: Refused by user: alone' });
  });
});

describe('chat -i', () => {
  it.each([
    ['yes', 1],
    ['no, thank you', 0],
  ] as const)('asks the person who types about a call: %s', async (word, created) => {
    using line = prepared();
    const stdin = new PassThrough();
    stdin.end(`${word}\n`);
    const { err, code } = await line.start(['chat', 'talk.yaml', '-i', '--quiet'], {
      signal: new AbortController().signal,
      stdin,
    });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('Guard asks about task') });
    const agents = (await eventsOf(line, 'chat/talk')).filter(
      ({ type, data }) => type === 'agent:created' && data.name === 'Jill',
    );
    expect(agents).toHaveLength(created);
  });

  it('stops the answer at the first Ctrl-C, says so in the log, and takes the next line', async () => {
    using line = prepared(
      hook.replace("? { decision: 'ask', reason: 'it creates an agent' }", '? new Promise(() => {})'),
    );
    const stdin = new PassThrough();
    const interrupt: { now: (() => boolean) | null } = { now: null };
    const chat = line.start(['chat', 'talk.yaml', '-i', '--quiet'], {
      signal: new AbortController().signal,
      stdin,
      interrupt,
    });
    const isCalled = async () =>
      (await envelopesOf(line, 'chat/talk')).length === 1 &&
      (await eventsOf(line, 'chat/talk')).some(({ type }) => type === 'agent:tool_call');
    await until(isCalled);
    expect(interrupt.now?.()).toBe(true);
    expect(interrupt.now).toBeNull();
    stdin.end('And now?\n');
    expect(await chat).toMatchObject({ code: 0, out: expect.stringContaining('Done.') });
    const stopped = (await eventsOf(line, 'chat/talk')).find(({ type }) => type === 'harness:answer_stopped');
    expect(stopped?.data).toMatchObject({ by: 'user', reason: 'Ctrl-C' });
  });
});
