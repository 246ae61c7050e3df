import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

let line: CommandLine;
beforeEach(() => {
  line = commandLine();
});
afterEach(() => line[Symbol.dispose]());

const titleAndStatus = async () => {
  const [listed] = (await line.hansard('ls', '--tasks', '--json')).json();
  const { task } = listed as { task: { name: string; status: string; slug: string; project: string } };
  return [task.name, task.status, task.slug, task.project];
};

describe('hansard task', () => {
  it('makes a task with a title, which needs no session', async () => {
    const made = await line.hansard('task', 'research/route-models', '--title', 'Which models');
    expect(made).toMatchObject({
      code: 0,
      out: 'research/route-models is made: Which models (open)\n',
      err: '',
    });
    expect(await titleAndStatus()).toEqual(['Which models', 'open', 'route-models', 'research']);
  });

  it('changes the title or the status of a task, and leaves the other one', async () => {
    await line.hansard('task', 'research/route-models', '--title', 'Which models');
    const done = await line.hansard('task', 'route-models', '--status', 'done');
    expect(done.out).toBe('research/route-models is changed: Which models (done)\n');
    await line.hansard('task', 'route', '--title', 'Others');
    expect(await titleAndStatus()).toEqual(['Others', 'done', 'route-models', 'research']);
  });

  it('says that nothing changed, and what the task is', async () => {
    await line.hansard('task', 'a/b', '--status', 'done');
    const again = await line.hansard('task', 'a/b', '--json');
    const [{ task, isNew }] = again.json() as [{ task: { status: string }; isNew: boolean }];
    expect([task.status, isNew]).toEqual(['done', false]);
    expect((await line.hansard('task', 'a/b')).out).toContain('is unchanged');
  });

  it('keeps the title of a task whose sessions are recorded later', async () => {
    await line.hansard('task', 'a/b', '--title', 'Look first');
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    expect(await titleAndStatus()).toEqual(['Look first', 'open', 'b', 'a']);
  });

  it.each([
    [['task', 'a/b', '--title', ' '], 2, '--title is empty.'],
    [['task', 'b'], 1, 'There is no task "b".'],
    [['task'], 2, "missing required argument 'task'"],
  ])('refuses %j', async (args, code, message) => {
    expect(await line.hansard(...args)).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
    expect((await line.hansard('ls', '--tasks', '--json')).json()).toEqual([]);
  });
});

describe('hansard store info', () => {
  it('prints where the store is, how much is in it, and what it can do', async () => {
    await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--quiet');
    await line.hansard('task', 'a/empty', '--title', 'Nothing yet');
    const { out, code } = await line.hansard('store', 'info');
    expect(code).toBe(0);
    expect(out).toMatch(/^store +store-jsonfile\nplace +\S+\.projects\ntasks +2\nsessions +1\nrunning +0\n/);
    expect(out).toMatch(/^integrity +checksum$/m);
    const [row] = (await line.hansard('store', 'info', '--json')).json();
    expect(row).toMatchObject({
      ...{ store: 'store-jsonfile', tasks: 2, sessions: 1, running: 0, unreadable: 0 },
      capabilities: { integrity: 'checksum' },
    });
  });

  it('of an empty store has zeroes, and makes nothing', async () => {
    const [row] = (await line.hansard('store', 'info', '--json')).json();
    expect(row).toMatchObject({ tasks: 0, sessions: 0 });
  });
});

describe('hansard show --role', () => {
  beforeEach(async () => {
    for (const role of ['ts-dev', 'tester'])
      await line.hansard('run', demoStream('hook-deny'), '--task', 'a/b', '--role', role, '--quiet');
  });

  it('prints only the sessions of that role', async () => {
    const { out, code } = await line.hansard('show', 'a/b', '--role', 'tester');
    expect(code).toBe(0);
    expect(out).toMatch(/^tester$/m);
    expect(out).not.toMatch(/^ts-dev\b/m);
  });

  it('names the roles that there are for one that there is not', async () => {
    expect(await line.hansard('show', 'a/b', '--role', 'cook')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/No session of a\/b has the role cook\.\n +Its roles: ts-dev, tester\./),
    });
  });
});

describe('hansard chat --with-history', () => {
  it('begins the system prompt with the outcomes of earlier sessions of the task, before its own', async () => {
    await line.hansard('run', demoStream('tools-and-thinking'), '--task', 'a/talk', '--quiet');
    const scenario = new URL('../demo/cafe.yaml', import.meta.url).pathname;
    const chat = ['chat', scenario, '--task', 'a/talk', '--quiet', '--system', 'Be brief.'];
    expect(await line.hansard(...chat, '--with-history')).toMatchObject({ code: 0 });
    const { out, code } = await line.hansard('context', 'a/talk/latest');
    expect(code).toBe(0);
    expect(out).toMatch(/Done: a\.txt says hello[\s\S]*Be brief\./);
  });

  it('is the same as without it in a task without earlier sessions', async () => {
    const scenario = new URL('../demo/cafe.yaml', import.meta.url).pathname;
    const chat = ['chat', scenario, '--task', 'a/talk', '--quiet', '--system', 'Be brief.', '--with-history'];
    expect(await line.hansard(...chat)).toMatchObject({ code: 0 });
    const prompts = (await line.hansard('show', 'a/talk', '--raw', '--json')).json() as { data: object }[];
    expect(JSON.stringify(prompts)).toContain('Be brief.');
    expect(JSON.stringify(prompts)).not.toContain('earlier');
  });
});
