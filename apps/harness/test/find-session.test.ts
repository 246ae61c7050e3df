import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTable } from '../src/commands/command-table.ts';
import { eventHelp, sessionHelp } from '../src/terminal/command.ts';
import { type CommandLine, commandLine } from './command-line.ts';

let line: CommandLine;

const record = (project: string, slug: string, name: string) => {
  return { slug, name, project, status: 'open', created: '2026-03-01T09:00:00.000Z' };
};

beforeAll(async () => {
  line = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  await store.putTask('lab/tasks/routes', record('lab', 'routes', 'Plan the way home'));
  await store.putTask('farm/tasks/routes', record('farm', 'routes', 'Paths for sheep'));
  await createDispatch(store, 'lab/tasks/routes', {
    dispatchId: 'D-one-7',
    role: 'walker',
    title: 'The long way',
    startedAt: '2026-03-01T10:00:00.000Z',
  });
  await createDispatch(store, 'lab/tasks/routes', {
    dispatchId: 'D-two-7',
    role: 'rider',
    startedAt: '2026-03-01T11:00:00.000Z',
  });
  await createDispatch(store, 'farm/tasks/routes', {
    dispatchId: 'F-1',
    role: 'walker',
  });
  await createDispatch(store, 'lab/tasks/tea', {
    dispatchId: 'T-1',
    role: 'walker',
    startedAt: '2026-03-01T09:00:00.000Z',
  });
  await store.close();
});
afterAll(() => line[Symbol.dispose]());

const dispatches = async (...args: string[]) => {
  const answer = await line.hansard('show', ...args, '--json');
  expect(answer).toMatchObject({ code: 0 });
  return (answer.json() as { dispatchId: string }[]).map(({ dispatchId }) => dispatchId);
};

describe('a word names', () => {
  it.each([
    ['a task by PROJECT/SLUG', 'lab/routes', ['D-one-7', 'D-two-7']],
    ['a task by its folder', 'lab/tasks/routes', ['D-one-7', 'D-two-7']],
    ['a task by the beginning of its name', 'plan the', ['D-one-7', 'D-two-7']],
    ['a task by its name', 'Paths for sheep', ['F-1']],
    ['a task by its slug', 'tea', ['T-1']],
    ['a task by the end of its slug', 'ea', ['T-1']],
    ['a task by its project, if it is the only one', 'farm', ['F-1']],
    ['the newest session', 'latest', ['F-1']],
    ['a session by TASK/ID', 'lab/routes/D-one-7', ['D-one-7']],
    ['a session by TASK/ and the end of its id', 'lab/routes/one-7', ['D-one-7']],
    ['a session by TASK/ and the beginning of its id', 'lab/routes/D-t', ['D-two-7']],
    ['the newest session of a task', 'lab/routes/latest', ['D-two-7']],
    ['the newest session of a task by its slug', 'tea/latest', ['T-1']],
    ['a session by its id', 'D-one-7', ['D-one-7']],
    ['a session by the end of its id', 'two-7', ['D-two-7']],
    ['a session by its title', 'The long way', ['D-one-7']],
    ['a session by the beginning of its title', 'the long', ['D-one-7']],
  ])('%s: %j', async (_, word, expected) => {
    expect(await dispatches(word)).toEqual(expected);
  });

  it.each([
    [
      'a task',
      'routes',
      ['farm/routes  Paths for sheep', 'lab/routes  Plan the way home'],
      'routes fits 2 tasks:',
    ],
    [
      'a session',
      '7',
      [
        'lab/routes/D-one-7  walker  running  2026-03-01T10:00:00.000Z  The long way',
        'lab/routes/D-two-7  rider  running  2026-03-01T11:00:00.000Z',
      ],
      '7 fits 2 sessions:',
    ],
  ])('%s that is not clear, and lists the choices', async (_, word, choices, message) => {
    const { code, out, err } = await line.hansard('show', word);
    expect([code, out]).toEqual([1, '']);
    expect(err.split('\n').slice(0, 3)).toEqual([
      `hansard: ${message}`,
      ...choices.map((choice) => `  ${choice}`),
    ]);
    for (const choice of choices) {
      const [named = ''] = choice.split('  ');
      expect(await line.hansard('show', named)).toMatchObject({ code: 0, err: '' });
    }
  });

  it('a task with several sessions, which is not clear to a command that takes one', async () => {
    const { code, err } = await line.hansard('why', 'lab/routes', '0');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^hansard: lab\/routes has 2 sessions:\n {2}lab\/routes\/D-one-7 /),
    ]);
    expect(await line.hansard('dialog', 'tea')).toMatchObject({ code: 0 });
  });

  it('no title before an id or a task: titles are texts of others', async () => {
    using own = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(own.cwd, '.projects') }));
    for (const [task, dispatchId, title] of [
      ['a/tasks/plans', 'ID-1', null],
      ['b/tasks/traps', 'ID-2', 'plans'],
      ['b/tasks/traps', 'ID-3', 'ID-1'],
      ['b/tasks/traps', 'ID-4', 'latest'],
      ['b/tasks/traps', 'ID-5', 'a/plans'],
    ] as const)
      await createDispatch(store, task, {
        dispatchId,
        title,
        role: 'worker',
        startedAt: `2026-03-01T09:0${dispatchId.at(-1)}:00.000Z`,
      });
    await store.close();
    const named = async (word: string) =>
      ((await own.hansard('ls', word, '--json')).json() as { dispatchId: string }[]).map(
        ({ dispatchId }) => dispatchId,
      );
    expect(await named('plans')).toEqual(['ID-1']);
    expect(await named('a/plans')).toEqual(['ID-1']);
    expect(await named('ID-1')).toEqual(['ID-1']);
    expect(await named('latest')).toEqual(['ID-5']);
  });

  it('a worker only by its own id: the newest session is the one that started it', async () => {
    using own = commandLine();
    const store = openDispatchStore(openJsonFileStore({ root: join(own.cwd, '.projects') }));
    await createDispatch(store, 'a/tasks/b', {
      dispatchId: 'LEAD',
      role: 'lead',
      startedAt: '2026-03-01T09:00:00.000Z',
    });
    await createDispatch(store, 'a/tasks/b', {
      dispatchId: 'WORKER',
      role: 'dev',
      parentDispatchId: 'LEAD',
      startedAt: '2026-03-01T09:01:00.000Z',
    });
    await store.close();
    for (const word of ['latest', 'a/b/latest']) {
      const [row] = (await own.hansard('show', word, '--json')).json() as { dispatchId: string }[];
      expect(row?.dispatchId).toBe('LEAD');
    }
    // A task with one session is that session.
    expect(await own.hansard('dialog', 'a/b')).toMatchObject({ code: 0 });
    expect((await own.hansard('show', 'WORKER', '--json')).json()).toMatchObject([{ dispatchId: 'WORKER' }]);
  });
});

it.each(commandTable.filter((row) => (row.arguments ?? []).length > 0))(
  'the help of $name says in the same words as the others how things are named',
  ({ arguments: rows = [] }) => {
    const words = {
      session: sessionHelp,
      other: sessionHelp,
      event: eventHelp,
    };
    for (const [syntax, description = ''] of rows) {
      const expected = words[syntax.replaceAll(/[<>[\]]/g, '') as keyof typeof words];
      if (expected !== undefined) expect(description).toContain(expected);
    }
  },
);
