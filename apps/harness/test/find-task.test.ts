import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTable } from '../src/commands/command-table.ts';
import { agentHelp, dispatchHelp, eventHelp, taskHelp } from '../src/terminal/command.ts';
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

describe('a task', () => {
  it.each([
    ['lab/routes', ['D-one-7', 'D-two-7']],
    ['lab/tasks/routes', ['D-one-7', 'D-two-7']],
    ['plan the', ['D-one-7', 'D-two-7']],
    ['Paths for sheep', ['F-1']],
    ['tea', ['T-1']],
    ['ea', ['T-1']],
    ['farm', ['F-1']],
    ['latest', ['F-1']],
  ])('is named by %j', async (task, expected) => {
    expect(await dispatches(task)).toEqual(expected);
  });

  it('that is not clear is asked for, with the choices', async () => {
    const { code, err } = await line.hansard('tree', 'routes');
    expect(code).toBe(1);
    expect(err.split('\n').slice(0, 3)).toEqual([
      'hansard: routes fits 2 tasks:',
      '  farm/routes  Paths for sheep',
      '  lab/routes  Plan the way home',
    ]);
  });
});

describe('a dispatch', () => {
  it.each([
    ['D-one-7', 'D-one-7'],
    ['one-7', 'D-one-7'],
    ['D-t', 'D-two-7'],
    ['the long way', 'D-one-7'],
    ['the long', 'D-one-7'],
    ['walker', 'D-one-7'],
    ['latest', 'D-two-7'],
  ])('is named by %j', async (wanted, expected) => {
    expect(await dispatches('lab/routes', wanted)).toEqual([expected]);
  });

  it('that is not clear is asked for, with the choices', async () => {
    const { code, err } = await line.hansard('events', 'lab/routes', '7');
    expect(code).toBe(1);
    expect(err.split('\n').slice(0, 3)).toEqual([
      'hansard: 7 fits 2 dispatches of lab/routes:',
      '  D-one-7  walker  running  2026-03-01T10:00:00.000Z  The long way',
      '  D-two-7  rider  running  2026-03-01T11:00:00.000Z',
    ]);
  });
});

it.each(commandTable.filter((row) => (row.arguments ?? []).length > 0))(
  'the help of $name says in the same words as the others how things are named',
  ({ arguments: rows = [] }) => {
    const words = {
      task: taskHelp,
      dispatch: dispatchHelp,
      agent: agentHelp,
      event: eventHelp,
      call: eventHelp,
    };
    for (const [syntax, description = ''] of rows) {
      const expected = words[syntax.replaceAll(/[<>[\]]/g, '') as keyof typeof words];
      if (expected !== undefined) expect(description).toContain(expected);
    }
  },
);
