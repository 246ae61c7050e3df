import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  dispatchId,
  holdsEvents,
  holdsPrepared,
  optionalMethod,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

type Place = readonly [taskDir: string, dispatchId: string];

const envelopeAt = ([task, id]: Place) => sampleEnvelope(id, { role: `role of ${task} ${id}` });
const eventAt = ([task, id]: Place) => sampleEvent('same', `word of ${task} ${id}`);

/** Creates a dispatch in each place, each with an own event under the same id, and a record for each task. */
async function fill(store: DispatchStoreProvider, places: readonly Place[]) {
  for (const place of places) {
    const [task, id] = place;
    await store.putTask(task, sampleTask(`of ${task}`));
    await store.createDispatch(task, envelopeAt(place));
    await store.appendEvent(task, id, eventAt(place));
  }
}

/** Fails unless each place has only its own dispatch and event. */
async function areApart(store: DispatchStoreProvider, places: readonly Place[]) {
  for (const place of places) {
    const [task, id] = place;
    sameContent(await store.findTask(task), sampleTask(`of ${task}`), `findTask(${task})`);
    const what = `getDispatchEnvelope(${task}, ${id})`;
    sameContent(await store.getDispatchEnvelope(task, id), envelopeAt(place), what);
    await holdsEvents(store, [eventAt(place)], { taskDir: task, dispatchId: id });
    const own = places.filter(([other]) => other === task).map(([, dispatch]) => dispatch);
    const listed = (await store.getDispatchEnvelopes(task)).map(({ dispatchId }) => dispatchId);
    sameContent(listed, own.sort(), `the dispatches of ${task}`);
  }
  const tasks = [...new Set(places.map(([task]) => task))].sort();
  const listed = (await store.listTasks()).map((listing) => listing.taskDir);
  sameContent(listed, tasks, 'the tasks that are listed');
}

const sameTask = (...ids: readonly string[]) => ids.map((id) => [taskDir, id] as const);

/** A task of 1,024 bytes whose last part begins with a text. */
const longest = (text: string) => {
  const start = `${'z'.repeat(200)}/`.repeat(4) + text;
  return start + 'z'.repeat(1_024 - Buffer.byteLength(start));
};

const families = [
  {
    name: 'ids-by-case',
    title: 'dispatch ids that differ only in their case are different dispatches',
    places: sameTask('abc', 'ABC', 'Abc', 'aBC'),
  },
  {
    name: 'ids-one-character-apart',
    title: 'dispatch ids differ by every character, in every place',
    places: sameTask(
      'a.b',
      'a-b',
      'a_b',
      'ab',
      'a.b.',
      'a--b',
      '1',
      '01',
      '1.0',
      '1e0',
      '-1',
      '_1',
      'p',
      'x'.repeat(127),
      'x'.repeat(128),
      `${'x'.repeat(127)}y`,
    ),
  },
  {
    name: 'tasks-by-case',
    title: 'tasks that differ only in their case are different tasks',
    places: [
      ['lab/one', 'D'],
      ['Lab/one', 'D'],
      ['lab/One', 'D'],
      ['LAB/ONE', 'D'],
    ],
  },
  {
    name: 'tasks-by-normal-form',
    title:
      'tasks with composed and decomposed letters are different tasks, and names are listed as they were given',
    places: [
      ['lab/é', 'D'],
      ['lab/e\u0301', 'D'],
      ['lab/ﬁ', 'D'],
      ['lab/fi', 'D'],
    ],
  },
  {
    name: 'tasks-are-not-patterns',
    title: 'a task is never a pattern or a prefix for another one',
    places: [
      ['lab/a_b', 'D'],
      ['lab/axb', 'D'],
      ['lab/a%b', 'D'],
      ['lab/a', 'D'],
      ['lab/a/b', 'D'],
      ['lab/ab', 'D'],
      ['lab/a%', 'D'],
      ['lab/[ab]', 'D'],
      ['lab/{a,b}', 'D'],
      ['lab', 'D'],
      ['lab/a b', 'D'],
      ['lab/a+b', 'D'],
    ],
  },
  {
    name: 'task-and-id-are-apart',
    title: 'a task and an id are never joined to a name that two places share',
    places: [
      ['a', 'b-c'],
      ['a-b', 'c'],
      ['a/b', 'c'],
      ['a', 'b'],
      ['a_b', 'c'],
      ['a b', 'c'],
      ['a.b', 'c'],
    ],
  },
  {
    name: 'longest-names',
    title:
      'a task with a part of 255 bytes, one of 40 parts, and tasks of 1,024 bytes are tasks like any other',
    places: [
      [`lab/${'x'.repeat(255)}`, 'D'],
      [`lab/${'y'.repeat(255)}`, 'x'.repeat(128)],
      [`${'deep/'.repeat(39)}end`, 'D'],
      [longest('x'), 'D'],
      [longest('y'), 'D'],
      [longest('é'), 'x'.repeat(128)],
    ],
  },
] as const satisfies ReadonlyArray<{ name: string; title: string; places: readonly Place[] }>;

export const nameCases = caseFamily('names', [
  ...families.map(({ name, title, places }) => ({
    name,
    rule: 1,
    title,
    run: async ({ store }: { readonly store: DispatchStoreProvider }) => {
      await fill(store, places);
      await areApart(store, places);
    },
  })),
  {
    name: 'claims-by-name',
    rule: 6,
    title:
      'a claim belongs to one name: ids in another case and tasks that look alike are not claimed with it',
    run: async ({ store }) => {
      const places = [
        [taskDir, 'abc'],
        [taskDir, 'ABC'],
        ['lab/a_b', 'D'],
        ['lab/axb', 'D'],
      ] as const;
      for (const [task, id] of places)
        await store.createDispatch(task, sampleEnvelope(id, { status: 'completed' }));
      for (const [task, id] of places) {
        await store.claimDispatch(task, id);
        for (const [otherTask, otherId] of places)
          if (otherTask !== task || otherId !== id)
            await refuses('STORE_LOCKED', `appendEvent to ${otherTask}, ${otherId}`, () =>
              store.appendEvent(otherTask, otherId, sampleEvent('one')),
            );
        await store.releaseDispatch(task, id);
      }
    },
  },
  {
    name: 'searched-by-name',
    rule: 1,
    title: 'a search finds events of its task only, whichever characters the name has',
    needs: ['search'],
    run: async ({ store }) => {
      const places = [
        ['lab/a_b', 'D'],
        ['lab/axb', 'D'],
        ['lab/a%b', 'D'],
        ['lab/a', 'D'],
        ['lab/A_B', 'D'],
      ] as const;
      for (const [task, id] of places) {
        await store.createDispatch(task, sampleEnvelope(id));
        await store.appendEvent(task, id, sampleEvent('same', `walrus ${task}`));
      }
      for (const [task, id] of places)
        sameContent(
          await optionalMethod(store, 'searchEvents')('walrus', { taskDir: task }),
          [{ taskDir: task, dispatchId: id, position: 0, event: sampleEvent('same', `walrus ${task}`) }],
          `a search of ${task}`,
        );
    },
  },
  {
    name: 'deleted-by-name',
    rule: 1,
    title: 'deleting a dispatch deletes none with a similar name',
    needs: ['deleteDispatch'],
    run: async ({ store }) => {
      const kept = [
        [taskDir, 'abc'],
        [taskDir, 'ABC'],
        ['lab/a', 'abc'],
        ['lab/a/b', 'abc'],
      ] as const;
      const deleted = [
        [taskDir, 'a_c'],
        [taskDir, 'a.c'],
        ['lab/a', 'ABC'],
      ] as const;
      await fill(store, [...kept, ...deleted]);
      for (const [task, id] of deleted) await optionalMethod(store, 'deleteDispatch')(task, id);
      await areApart(store, kept);
    },
  },
]);

/** Task paths that would leave the root of a store, or that some file system changes. */
const evilTaskDirs = [
  '',
  '/',
  '//',
  '.',
  '..',
  './a',
  '../a',
  'a/..',
  'a/.',
  'a/../b',
  'a/./b',
  '../../etc',
  '/etc',
  '/tmp/a',
  'a/',
  'a//b',
  '\\',
  'a\\b',
  '..\\a',
  '\\\\host\\share',
  'C:\\a',
  'C:/a',
  'C:a',
  'file:a',
  'a\0b',
  '\0',
  'a\nb',
  'a\u007f',
  'a\u0085',
  'a\u009b',
  'a/\u2028b',
  '.hidden',
  'a/.git',
  'a./b',
  'a/b.',
  'a/b ',
  ' /a',
  'a*',
  'a?',
  'a"b',
  'a<b',
  'a>b',
  'a|b',
  'con',
  'a/NUL',
  'nul.txt',
  'a/COM1',
  'lpt9.log',
  'COM¹',
  'a/lpt³.log',
  'conin$',
  'aux .txt',
  'x'.repeat(256),
  '会'.repeat(86),
  'a/\ud800',
  `${'z'.repeat(204)}/`.repeat(4) + 'z'.repeat(205),
  `${'会'.repeat(80)}/`.repeat(4) + '会'.repeat(21),
];

/** Dispatch ids that could not be the name of a file below their task on every file system. */
const evilDispatchIds = [
  '',
  '.',
  '..',
  '../a',
  '..\\a',
  '/',
  '/a',
  'a/b',
  'a\\b',
  'C:a',
  'a:b',
  'a\0b',
  'a\n',
  '\n',
  '.hidden',
  '..a',
  'a b',
  ' a',
  'é',
  '🎈',
  'a*',
  'a?',
  'con',
  'NUL',
  'nul.json',
  'Com1',
  'x'.repeat(129),
];

const refusals = storeOperations
  .filter(({ takes }) => takes !== 'nothing')
  .map(
    ({ name, method, needs, takes, call }): NamedCase => ({
      name,
      rule: 8,
      title: `${method} refuses a ${takes.replace('and', 'or')} that could leave the root, and stores nothing`,
      needs,
      run: async ({ store }) => {
        await prepareStore(store);
        for (const evil of evilTaskDirs)
          await refuses('STORE_INVALID_PATH', `${method} of the task ${JSON.stringify(evil)}`, () =>
            call(store, evil, dispatchId),
          );
        for (const evil of takes === 'taskDir' ? [] : evilDispatchIds)
          await refuses('STORE_INVALID_PATH', `${method} of the dispatch ${JSON.stringify(evil)}`, () =>
            call(store, taskDir, evil),
          );
        await holdsPrepared(store);
      },
    }),
  );

export const pathCases = caseFamily('paths', [
  ...refusals,
  {
    name: 'names-of-a-layout',
    rule: 8,
    title: 'a task named like a part of a store’s own layout is refused, or kept apart from all others',
    run: async ({ store }) => {
      const ids = ['task', 'dispatches', 'envelope', 'events'];
      await store.putTask('lab', sampleTask('lab'));
      for (const id of ids) {
        await store.createDispatch('lab', sampleEnvelope(id));
        await store.appendEvent('lab', id, sampleEvent('inner', id));
      }
      const lookalikes = ['lab/dispatches', 'lab/task', 'lab/task.json', 'lab/dispatches/task', 'lab/events'];
      for (const name of lookalikes) {
        try {
          await store.putTask(name, sampleTask('lookalike', { name }));
          await store.createDispatch(name, sampleEnvelope('task', { role: name }));
        } catch (error) {
          if (!storeErrors.is(error)) throw error;
          continue;
        }
        sameContent(await store.findTask(name), sampleTask('lookalike', { name }), `findTask(${name})`);
      }
      sameContent(await store.findTask('lab'), sampleTask('lab'), 'findTask(lab)');
      for (const id of ids)
        await holdsEvents(store, [sampleEvent('inner', id)], { taskDir: 'lab', dispatchId: id });
      sameContent((await store.getDispatchEnvelopes('lab')).length, ids.length, 'the number of dispatches');
    },
  },
]);
