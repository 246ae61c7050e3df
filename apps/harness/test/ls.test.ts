import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatch, updateDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const startedAt = '2026-03-01T09:30:05.000Z';
const long = 'home-USER-projects-of-mine-worktrees/4d5611e5-241a-462a-8d15-5122611a9569';

/** A dispatch each of several tasks. */
async function recorded(...tasks: readonly string[]): Promise<CommandLine> {
  const line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  for (const task of tasks) {
    const [project = '', slug = ''] = task.split('/');
    const taskDir = `${project}/tasks/${slug}`;
    await store.putTask(taskDir, {
      slug,
      name: `The ${slug.slice(0, 4)} that we look at now`,
      project,
      status: 'open',
      created: startedAt,
    });
    const dispatch = { role: 'product-analyst', model: 'claude-sonnet-4-5-20250929', startedAt };
    const { dispatchId } = await createDispatch(store, taskDir, dispatch);
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed', cost: 1_234.5 });
    await createDispatch(store, taskDir, { ...dispatch, parentDispatchId: dispatchId });
  }
  await store.close();
  return line;
}

function at(line: CommandLine, columns: number, ...args: string[]) {
  return line.start(args, { signal: new AbortController().signal, columns });
}

/** Cuts the file of the first dispatch of a task off in its envelope; its path. */
function damage(line: CommandLine, task: string): string {
  const folder = join(line.cwd, '.projects', task.replace('/', '/tasks/'), 'dispatches');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? '');
  truncateSync(file, 40);
  return file;
}

describe('ls of tasks with a status', () => {
  it('shows the status of each, and lists those of one', async () => {
    using line = await recorded('a/one', 'a/two', 'b/four');
    expect((await line.hansard('task', 'two', '--status', 'done')).code).toBe(0);
    const named = async (...args: string[]) =>
      (
        (await line.hansard('ls', '--tasks', '--json', ...args)).json() as { taskDir: string; task: object }[]
      ).map(({ taskDir, task }) => [taskDir, (task as { status: string }).status]);
    expect((await named()).toSorted()).toEqual([
      ['a/tasks/one', 'open'],
      ['a/tasks/two', 'done'],
      ['b/tasks/four', 'open'],
    ]);
    expect((await line.hansard('ls', '--tasks')).out).toMatch(/ status\n[\s\S]* a\/two .* done\n/);
    expect(await named('--status', 'Done')).toEqual([['a/tasks/two', 'done']]);
    expect((await named('--status', 'open', '--project', 'a')).map(([task]) => task)).toEqual([
      'a/tasks/one',
    ]);
    const none = await line.hansard('ls', '--tasks', '--status', 'abandoned');
    expect([none.code, none.out]).toEqual([0, expect.stringContaining('has the status "abandoned"')]);
    const without = await line.hansard('ls', '--status', 'done');
    expect([without.code, without.err]).toEqual([2, expect.stringContaining('Add --tasks.')]);
  });
});

describe('ls beside a damaged dispatch', () => {
  it('lists every other task, names the file and what to do, and exits with 3', async () => {
    using line = await recorded('a/one', 'a/three', 'a/two', 'b/four');
    const files = [damage(line, 'a/two'), damage(line, 'b/four')];
    const { code, out, err } = await line.hansard('ls', '--tasks');
    expect(code).toBe(3);
    expect(out.split('\n').map((row) => row.replaceAll(/ +/g, ' ').trim())).toEqual([
      'title task when cost sessions status',
      'The one that we look at now a/one 2026-03-01 $1,234.50 2 (1 running) open',
      'The thre that we look at now a/three 2026-03-01 $1,234.50 2 (1 running) open',
      'The two that we look at now a/two ? ? ? damaged',
      'The four that we look at now b/four ? ? ? damaged',
      '',
    ]);
    expect(err).toMatch(
      /^hansard: 2 of 4 tasks can't be read completely; the others are listed\.\n {2}a\/two: STORE_CORRUPT: /,
    );
    for (const file of files) expect(err).toContain(`${file} is damaged at byte `);
    expect(err).toMatch(/\n {2}Nothing was changed\. `hansard store verify` shows .*\n$/);
  });

  it('lists a task with a damaged record by the figures of its dispatches, and every other task', async () => {
    using line = await recorded('a/one', 'a/two');
    const file = join(line.cwd, '.projects/a/tasks/one/task.json');
    truncateSync(file, 20);
    const { code, out, err } = await line.hansard('ls', '--tasks');
    expect(code).toBe(3);
    expect(out).toMatch(/ a\/one +damaged$/m);
    expect(out).toMatch(/ a\/two +open$/m);
    expect(out).toMatch(/^All: when 2026-03-01, cost \$1,234\.50, sessions 2 \(1 running\)$/m);
    expect(err).toContain(`a/one: STORE_CORRUPT: ${file} is damaged at byte 0: it is not JSON.`);
    const asJson = await line.hansard('ls', '--tasks', '--json');
    expect(asJson.code).toBe(3);
    expect(asJson.json()).toMatchObject([
      { taskDir: 'a/tasks/one', task: null, dispatches: 2, errors: [{ code: 'STORE_CORRUPT', file }] },
      { taskDir: 'a/tasks/two', dispatches: 2 },
    ]);
  });

  it('says the same in JSON, a line for each task', async () => {
    using line = await recorded('a/one', 'a/two');
    const file = damage(line, 'a/one');
    const { code, err, json } = await line.hansard('ls', '--tasks', '--json');
    expect(code).toBe(3);
    expect(err).toContain(file);
    expect(json()).toMatchObject([
      {
        taskDir: 'a/tasks/one',
        task: { slug: 'one' },
        dispatches: null,
        running: null,
        costUsd: null,
        lastStartedAt: null,
        errors: [{ code: 'STORE_CORRUPT', file, message: expect.stringContaining('is damaged at byte') }],
      },
      { taskDir: 'a/tasks/two', dispatches: 2, running: 1, costUsd: 1_234.5, lastStartedAt: startedAt },
    ]);
  });

  it('shows a dispatch beside it that is named by its whole id', async () => {
    using line = await recorded('a/one');
    const [, whole] = (await line.hansard('ls', 'a/one', '--json')).json() as { dispatchId: string }[];
    const file = damage(line, 'a/one');
    const id = file.includes(`${whole?.dispatchId}`) ? 'none' : `${whole?.dispatchId}`;
    expect(await line.hansard('show', `a/one/${id}`)).toMatchObject({ code: 0, err: '' });
    const other = await line.hansard('show', 'a/one/latest');
    expect([other.code, other.err]).toEqual([3, expect.stringContaining(file)]);
  });

  it('leaves the damaged file as it is', async () => {
    using line = await recorded('a/one');
    const file = damage(line, 'a/one');
    const before = readFileSync(file);
    await line.hansard('ls', '--tasks');
    expect(readFileSync(file)).toEqual(before);
  });
});

describe('ls on a terminal', () => {
  it.each([70, 80, 140])(
    'fits %d columns, begins with the title, and ends with a name for the next command',
    async (columns) => {
      using line = await recorded('research/route-models', long);
      const { out } = await at(line, columns, 'ls');
      const rows = out.trimEnd().split('\n');
      expect(rows.filter((row) => row.length > columns)).toEqual([]);
      expect(rows[0]).toMatch(/^title .* id$/);
      const listed = (await line.hansard('ls', '--json')).json() as { dispatchId: string }[];
      const shown = rows.slice(1, 5).map((row) => row.split(' ').at(-1) ?? '');
      expect(shown).toHaveLength(4);
      for (const [index, id] of shown.entries()) {
        expect(id).toHaveLength(8);
        expect(listed[index]?.dispatchId.endsWith(id)).toBe(true);
        expect(await line.hansard('show', id)).toMatchObject({ code: 0 });
      }
    },
  );

  it('states what is equal in every row once, and prints no whole id', async () => {
    using line = await recorded('a/one', 'a/two');
    const { out } = await at(line, 140, 'ls');
    expect(out).toMatch(/^All: project a, when 2026-03-01, role product-analyst$/m);
    expect(out).not.toMatch(/\b0[0-9A-Z]{25}\b/);
    expect(out).not.toMatch(/^title .* project/m);
  });

  describe('with workers', () => {
    const sessions = [
      ['Which models do we route to?', 'lead', null, 58],
      [null, 'tester', 0, 50],
      ['Write the routes of the night down', 'writer', null, 40],
      [null, 'reviewer', 0, 30],
    ] as const;

    async function recordedWorkers(): Promise<CommandLine> {
      const line = commandLine();
      await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
      const ids: string[] = [];
      for (const [title, role, parent, minutes] of sessions) {
        const began = Date.now() - minutes * 60_000;
        const dispatch = await store.beginDispatch(`lab/tasks/${role}`, {
          role,
          startedAt: new Date(began).toISOString(),
          ...(parent !== null && { parentDispatchId: ids[parent] ?? null }),
        });
        ids.push(dispatch.dispatchId);
        const usage = { inputTokens: 1_000 * minutes, outputTokens: 5 };
        await dispatch.update({ title, usage, cost: minutes / 10 });
        await dispatch.end({
          status: 'completed',
          completedAt: new Date(began + minutes * 1_000).toISOString(),
        });
      }
      return line;
    }

    const titles = (out: string) =>
      out.split('\n').flatMap((row) => /^(\S.*?) {2,}.*\d+ min ago/.exec(row)?.[1] ?? []);

    it('has the row of a worker after that of its session, named by its role if it has no title', async () => {
      using line = await recordedWorkers();
      expect(titles((await at(line, 140, 'ls')).out)).toEqual([
        'Write the routes of the night down',
        'Which models do we route to?',
        '↳ reviewer',
        '↳ tester',
      ]);
    });

    it('has them by their own figures in another order', async () => {
      using line = await recordedWorkers();
      const { out } = await at(line, 140, 'ls', '--sort', 'cost');
      expect(titles(out)[1]).toBe('↳ tester');
    });

    it('lists a worker whose session is beyond the limit', async () => {
      using line = await recordedWorkers();
      expect(titles((await at(line, 140, 'ls', '--limit', '1')).out)).toEqual(['↳ reviewer']);
    });

    it('has cost, tokens and duration at 80 columns, and says what it leaves out', async () => {
      using line = await recordedWorkers();
      const { out } = await at(line, 80, 'ls');
      expect(out).toMatch(/^title +when +cost +tokens +duration +id$/m);
      expect(out).toContain('Hidden at this width: role');
      expect((await at(line, 140, 'ls')).out).not.toContain('Hidden');
    });
  });

  it('has the same width behind a pipe', async () => {
    using line = await recorded('research/route-models', long);
    const { signal } = new AbortController();
    const piped = await line.start(['ls'], { signal, env: { COLUMNS: '80' } });
    expect(piped.out).toBe((await at(line, 80, 'ls')).out);
  });

  it('says how long ago a session was active; with --utc the time', async () => {
    using line = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const before = (ms: number) => new Date(Date.now() - ms).toISOString();
    for (const [index, ms] of [2 * 3_600_000, 3 * 60_000, 5 * 86_400_000].entries())
      await createDispatch(store, `a/tasks/t${index}`, { role: 'worker', startedAt: before(ms) });
    await store.close();
    const { out } = await line.hansard('ls');
    for (const words of ['2 h ago', '3 min ago', '5 d ago']) expect(out).toContain(words);
    expect((await line.hansard('ls', '--utc')).out).toMatch(/^t1 .*\d{4}-\d\d-\d\d \d\d:\d\d /m);
  });
});

describe('ls of several tasks', () => {
  /** Each with a dispatch that began in this minute, had its last event in that one, cost so much, and was asked this. */
  const tasks: readonly (readonly [
    task: string,
    began: number,
    active: number,
    cost: number,
    asked: string,
  ])[] = [
    ['alpha/old', 10, 50, 3, 'Find the\n  routes '],
    ['alpha/new', 40, 41, 1, '\u001b[31mred'],
    ['beta/last', 20, 30, 2, `${'long '.repeat(40)}end`],
  ];

  async function recordedAt(): Promise<CommandLine> {
    const line = commandLine();
    await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const minute = (at: number) => `2026-03-01T09:${at}:00.000Z`;
    for (const [task, began, active, cost, asked] of tasks) {
      const taskDir = task.replace('/', '/tasks/');
      const dispatch = await store.beginDispatch(taskDir, { role: 'worker', startedAt: minute(began) });
      const source = { kind: 'user' } as const;
      await dispatch.append([
        { ...newEvent('user:message', { text: asked, source }), timestamp: minute(began) },
        { ...newEvent('user:message', { text: 'Later', source }), timestamp: minute(active) },
      ]);
      await dispatch.end({ status: 'completed', cost });
    }
    return line;
  }

  const listed = async (line: CommandLine, ...args: string[]) =>
    ((await line.hansard('ls', '--tasks', '--json', ...args)).json() as { taskDir: string }[]).map(
      ({ taskDir }) => taskDir.replace('/tasks/', '/'),
    );

  it('begins with the one that was active last, or has another order, of a project, up to a limit', async () => {
    using line = await recordedAt();
    expect(await listed(line)).toEqual(['alpha/old', 'alpha/new', 'beta/last']);
    expect(await listed(line, '--sort', 'cost')).toEqual(['alpha/old', 'beta/last', 'alpha/new']);
    expect(await listed(line, '--sort', 'cost', '--project', 'ALPH')).toEqual(['alpha/old', 'alpha/new']);
    const rows = async (...args: string[]) =>
      (await line.hansard('ls', '--utc', ...args)).out
        .split('\n')
        .flatMap((row) => /\d\d:\d\d/.exec(row)?.[0] ?? []);
    const [active, begun] = [await rows(), await rows('--sort', 'newest')];
    expect([active, begun]).toEqual([active.toSorted().reverse(), begun.toSorted().reverse()]);
    expect(active).not.toEqual(begun);
    const first = await line.hansard('ls', '--tasks', '--limit', '1');
    expect([first.out, first.err]).toEqual([
      expect.stringContaining('alpha/old'),
      'hansard: 2 more; --limit 3 lists all.\n',
    ]);
    expect((await line.hansard('ls', '--tasks', '--project', 'gamma')).out).toMatch(
      /^No project in .* contains "gamma"/,
    );
  });

  it('shows the beginning of the first message as the title, on one line and harmless', async () => {
    using line = await recordedAt();
    const titles = ((await line.hansard('ls', '--tasks', '--json')).json() as { title: string }[]).map(
      ({ title }) => title,
    );
    expect(titles).toEqual(['Find the routes', '[31mred', expect.stringMatching(/^(long ){15}long…$/)]);
    for (const title of titles) expect(title.length).toBeLessThanOrEqual(80);
    expect((await line.hansard('ls', 'alpha/old')).out).toMatch(/^Find the routes /m);
  });
});

describe('ls of tasks whose cost nobody stated', () => {
  it('says null to programs and nothing to people, never 0', async () => {
    using line = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
    const { dispatchId } = await createDispatch(store, 'a/tasks/one', { role: 'worker', startedAt });
    await updateDispatch(store, 'a/tasks/one', dispatchId, { status: 'completed' });
    const free = await createDispatch(store, 'a/tasks/two', { role: 'worker', startedAt });
    await updateDispatch(store, 'a/tasks/two', free.dispatchId, { status: 'completed', cost: 0 });
    await createDispatch(store, 'a/tasks/two', { role: 'worker', startedAt });
    await store.close();
    expect((await line.hansard('ls', '--tasks', '--json')).json()).toMatchObject([
      { taskDir: 'a/tasks/one', costUsd: null },
      { taskDir: 'a/tasks/two', costUsd: 0 },
    ]);
    const { out } = await line.hansard('ls', '--tasks');
    expect(out).not.toContain('?');
    expect(out).toMatch(/a\/one +1$/m);
    expect(out).toMatch(/a\/two +\$0\.00 +2 \(1 running\)$/m);
    for (const command of [
      ['tree', 'a/one'],
      ['show', 'a/one'],
    ]) {
      const { out: json } = await line.hansard(...command, '--json');
      expect(json).toMatch(/"cost(Usd)?":null/);
      expect(json).not.toMatch(/"cost(Usd)?":0/);
    }
  });
});
