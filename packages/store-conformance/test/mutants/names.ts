import type { DispatchStoreProvider } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import type { Change, Mutant } from './mutant.ts';

type Rename = (name: string) => string;
const same: Rename = (name) => name;

/** A store that keeps tasks and dispatches under other names. What it reads has the names of its first write. */
function renaming(task: Rename, dispatch: Rename): Change {
  return (good) =>
    Object.fromEntries(
      Object.entries(good).map(([name, method]) => {
        if (typeof method !== 'function' || name === 'close') return [name, method];
        return [
          name,
          (...args: readonly unknown[]) => {
            const [taskDir, second, ...rest] = args;
            if (name === 'searchEvents' || name === 'listDispatches' || name === 'watch')
              return (method as CallableFunction)(...args.map((arg) => renameScope(arg, task, dispatch)));
            if (typeof taskDir !== 'string') return (method as CallableFunction)(...args);
            const renamed =
              typeof second === 'string'
                ? dispatch(second)
                : typeof second === 'object' && name === 'createDispatch'
                  ? { ...second, dispatchId: dispatch((second as { dispatchId: string }).dispatchId) }
                  : second;
            return (method as CallableFunction)(task(taskDir), renamed, ...rest);
          },
        ];
      }),
    ) as Partial<DispatchStoreProvider>;
}

function renameScope(argument: unknown, task: Rename, dispatch: Rename): unknown {
  if (typeof argument !== 'object' || argument === null) return argument;
  const { taskDir, dispatchId } = argument as { readonly taskDir?: string; readonly dispatchId?: string };
  return {
    ...argument,
    ...(taskDir !== undefined && { taskDir: task(taskDir) }),
    ...(dispatchId !== undefined && { dispatchId: dispatch(dispatchId) }),
  };
}

const like = (pattern: string) =>
  new RegExp(
    `^${pattern
      .replace(/[[\](){}+.*?^$|\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    'i',
  );

/** A store that lists the dispatches of every task that matches. */
const listing =
  (matches: (asked: string, task: string) => boolean): Change =>
  (good) => ({
    getDispatchEnvelopes: (taskDir) => [
      ...good.getDispatchEnvelopes(taskDir),
      ...others(good, matches, taskDir).flatMap((task) => good.getDispatchEnvelopes(task)),
    ],
  });

const others = (good: ReferenceStore, matches: (asked: string, task: string) => boolean, asked: string) =>
  good.listTasks().flatMap(({ taskDir }) => (taskDir !== asked && matches(asked, taskDir) ? [taskDir] : []));

/** Stores that take one name for another. */
export const nameMutants: readonly Mutant[] = [
  ['compares dispatch ids without their case', 'names/ids-by-case', renaming(same, (id) => id.toLowerCase())],
  ['replaces dots in ids', 'names/ids-one-character-apart', renaming(same, (id) => id.replaceAll('.', '-'))],
  [
    'keeps ids as numbers',
    'names/ids-one-character-apart',
    renaming(same, (id) => (/^\d+$/.test(id) ? String(Number(id)) : id)),
  ],
  ['cuts ids at 127 characters', 'names/ids-one-character-apart', renaming(same, (id) => id.slice(0, 127))],
  ['compares tasks without their case', 'names/tasks-by-case', renaming((task) => task.toLowerCase(), same)],
  ['normalises tasks', 'names/tasks-by-normal-form', renaming((task) => task.normalize('NFC'), same)],
  [
    'lists tasks in a compatible form',
    'names/tasks-by-normal-form',
    (good) => ({
      listTasks: () => good.listTasks().map((one) => ({ ...one, taskDir: one.taskDir.normalize('NFKC') })),
    }),
  ],
  [
    'takes _ for any character',
    'names/tasks-are-not-patterns',
    listing((asked, task) => like(asked.replaceAll('%', '\0')).test(task) && asked.includes('_')),
  ],
  [
    'takes % for any characters',
    'names/tasks-are-not-patterns',
    listing((asked, task) => asked.includes('%') && like(asked).test(task)),
  ],
  [
    'lists the dispatches of inner tasks',
    'names/tasks-are-not-patterns',
    listing((asked, task) => task.startsWith(`${asked}/`)),
  ],
  [
    'lists the dispatches of tasks with the same beginning',
    'names/tasks-are-not-patterns',
    listing((asked, task) => task.startsWith(asked)),
  ],
  [
    'replaces spaces in tasks',
    'names/task-and-id-are-apart',
    renaming((task) => task.replaceAll(' ', '-'), same),
  ],
  [
    'keeps slashes of tasks as underscores',
    'names/task-and-id-are-apart',
    renaming((task) => task.replaceAll('/', '_'), same),
  ],
  [
    'cuts parts of a task at 250 bytes',
    'names/longest-names',
    (good) => ({
      listTasks: () => good.listTasks().map((one) => ({ ...one, taskDir: one.taskDir.slice(0, 255) })),
    }),
  ],
  [
    'finds tasks 30 folders deep',
    'names/longest-names',
    (good) => ({ listTasks: () => good.listTasks().filter(({ taskDir }) => taskDir.split('/').length < 30) }),
  ],
  [
    'claims dispatches without their case',
    'names/claims-by-name',
    (good) => ({
      claimDispatch: (taskDir, id) => {
        for (const { dispatchId } of good.getDispatchEnvelopes(taskDir))
          if (dispatchId.toLowerCase() === id.toLowerCase()) good.claimDispatch(taskDir, dispatchId);
        return good.claimDispatch(taskDir, id);
      },
    }),
  ],
  [
    'claims dispatches of every task that matches',
    'names/claims-by-name',
    (good) => ({
      claimDispatch: (taskDir, id) => {
        for (const task of others(good, (asked, other) => like(asked).test(other), taskDir))
          if (good.getDispatchEnvelope(task, id) !== null) good.claimDispatch(task, id);
        return good.claimDispatch(taskDir, id);
      },
    }),
  ],
  [
    'searches every task that matches',
    'names/searched-by-name',
    (good) => ({
      searchEvents: (query, { taskDir = '', ...options } = {}) =>
        [taskDir, ...others(good, (asked, other) => like(asked).test(other), taskDir)].flatMap((task) =>
          good.searchEvents(query, { ...options, taskDir: task }),
        ),
    }),
  ],
  [
    'searches inner tasks',
    'search/places',
    (good) => ({
      searchEvents: (query, { taskDir = '', ...options } = {}) =>
        [taskDir, ...others(good, (asked, other) => other.startsWith(asked), taskDir)].flatMap((task) =>
          good.searchEvents(query, { ...options, taskDir: task }),
        ),
    }),
  ],
  [
    'deletes dispatches of every id that matches',
    'names/deleted-by-name',
    (good) => ({
      deleteDispatch: (taskDir, id) => {
        for (const { dispatchId } of good.getDispatchEnvelopes(taskDir))
          if (like(id).test(dispatchId)) good.deleteDispatch(taskDir, dispatchId);
      },
    }),
  ],
  [
    'mixes tasks with the same last part',
    'dispatches/same-id-in-two-tasks',
    renaming((task) => `research/tasks/${task.startsWith('research/tasks/') ? 'all' : task}`, same),
  ],
  [
    'lists 100 dispatches',
    'listings/many-dispatches',
    (good) => ({ getDispatchEnvelopes: (taskDir) => good.getDispatchEnvelopes(taskDir).slice(0, 100) }),
  ],
  [
    'lists 1,000 dispatches',
    'listings/many-dispatches',
    (good) => ({ getDispatchEnvelopes: (taskDir) => good.getDispatchEnvelopes(taskDir).slice(0, 1_000) }),
  ],
  [
    'lists 1,000 tasks',
    'listings/many-tasks',
    (good) => ({ listTasks: () => good.listTasks().slice(0, 1_000) }),
  ],
  [
    'lists running dispatches only',
    'listings/ended-dispatches',
    (good) => ({
      getDispatchEnvelopes: (taskDir) =>
        good.getDispatchEnvelopes(taskDir).filter(({ status }) => status !== 'crashed'),
    }),
  ],
  [
    'lists tasks with a record only',
    'tasks/with-and-without-record',
    (good) => ({ listTasks: () => good.listTasks().filter(({ task }) => task !== null) }),
  ],
  [
    'lists tasks in the order of their creation',
    'tasks/with-and-without-record',
    (good) => ({ listTasks: () => good.listTasks().reverse() }),
  ],
  [
    'makes a record for a task of dispatches',
    'tasks/dispatch-only',
    (good) => ({
      findTask: (taskDir) =>
        good.findTask(taskDir) ??
        (good.getDispatchEnvelopes(taskDir).length > 0
          ? { slug: taskDir, name: taskDir, project: '', status: 'open', created: '2026-03-01T09:00:00.000Z' }
          : null),
    }),
  ],
  [
    'merges the records of a task',
    'tasks/replaced',
    (good) => ({ putTask: (taskDir, task) => good.putTask(taskDir, { ...good.findTask(taskDir), ...task }) }),
  ],
  [
    'keeps the first record of a task',
    'tasks/record-beside-dispatches',
    (good) => ({
      putTask: (taskDir, task) => {
        if (good.findTask(taskDir) === null) good.putTask(taskDir, task);
      },
    }),
  ],
  [
    'mixes records that are put at the same time',
    'listings/records-at-once',
    (good) => ({
      putTask: async (taskDir, task) => {
        good.putTask(taskDir, { ...task, name: good.findTask(taskDir)?.name ?? task.name });
      },
    }),
  ],
  [
    'lists the folders above a task',
    'tasks/nested',
    (good) => ({
      listTasks: () =>
        good
          .listTasks()
          .flatMap((one) =>
            one.taskDir.includes('/')
              ? [{ taskDir: one.taskDir.split('/')[0] ?? '', task: null }, one]
              : [one],
          ),
    }),
  ],
];
