import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const taskCases = caseFamily('tasks', [
  {
    name: 'replaced',
    rule: null,
    title: 'putting a record again replaces all of it',
    run: async ({ store }) => {
      await store.putTask(taskDir, { ...sampleTask('route-models'), note: 'only in the first' } as never);
      const second = sampleTask('route-models', { name: 'Renamed', status: 'done' });
      await store.putTask(taskDir, second);
      sameContent(await store.findTask(taskDir), second, 'findTask');
      sameContent(await store.listTasks(), [{ taskDir, task: second }], 'listTasks');
    },
  },
  {
    name: 'with-and-without-record',
    rule: 1,
    title: 'every task with a record or a dispatch is listed, by taskDir',
    run: async ({ store }) => {
      const names = ['p/tasks/b', 'p/tasks/a b', 'p/tasks/a', 'P/tasks/z', 'p/tasks/a-b', 'p/tasks/B'];
      for (const [index, name] of names.entries()) {
        if (index % 3 !== 1) await store.putTask(name, sampleTask(name));
        if (index % 3 !== 0) await store.createDispatch(name, sampleEnvelope(`dispatch-${index}`));
      }
      const expected = names
        .map((name, index) => ({ taskDir: name, task: index % 3 === 1 ? null : sampleTask(name) }))
        .sort((one, other) => (one.taskDir < other.taskDir ? -1 : 1));
      sameContent(await store.listTasks(), expected, 'listTasks');
    },
  },
  {
    name: 'record-beside-dispatches',
    rule: 1,
    title:
      'a record that is put before, between or after dispatches does not change them, nor they the record',
    run: async ({ store }) => {
      await prepareStore(store);
      const task = sampleTask('route-models', { status: 'done' });
      await store.putTask(taskDir, task);
      await store.createDispatch(taskDir, sampleEnvelope('LATER', { startedAt: '2026-03-01T10:00:00.000Z' }));
      await store.updateDispatch(taskDir, 'LATER', { status: 'completed' });
      sameContent(await store.findTask(taskDir), task, 'findTask');
      await holdsEvents(store, prepared.events);
      const ids = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
      sameContent(ids, [dispatchId, 'LATER'], 'the dispatches');
    },
  },
  {
    name: 'dispatch-only',
    rule: 1,
    title: 'a task that has only dispatches has no record until one is put',
    run: async ({ store }) => {
      await beginDispatch(store);
      sameContent(await store.findTask(taskDir), null, 'findTask');
      await store.putTask(taskDir, prepared.task);
      sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks');
    },
  },
  {
    name: 'nested',
    rule: 8,
    title: 'nested tasks of any depth, with spaces and letters of any script, are separate',
    run: async ({ store }) => {
      const names = [
        'solo',
        'solo/inner',
        'solo/inner/tasks/innermost',
        'solo inner',
        'Forschung/Aufgaben/Größe ändern',
        '研究/任务/路由',
        'a.b/c_d-e/f (1), g & h',
        'constructor/__proto__',
        `${'long-'.repeat(25)}/x`,
      ];
      for (const [index, name] of names.entries()) {
        await store.putTask(name, sampleTask(`task-${index}`));
        await store.createDispatch(name, sampleEnvelope('SAME', { role: name }));
        await store.appendEvent(name, 'SAME', sampleEvent('same', name));
      }
      for (const [index, name] of names.entries()) {
        sameContent(await store.findTask(name), sampleTask(`task-${index}`), `findTask(${name})`);
        sameContent(await store.getDispatchEnvelopes(name), [sampleEnvelope('SAME', { role: name })], name);
        await holdsEvents(store, [sampleEvent('same', name)], { taskDir: name, dispatchId: 'SAME' });
      }
      const listed = (await store.listTasks()).map((listing) => listing.taskDir);
      sameContent(new Set(listed).size, names.length, 'the number of tasks');
      sameContent(
        names.filter((name) => !listed.includes(name)),
        [],
        'tasks that are not listed',
      );
    },
  },
  {
    name: 'keeps-a-copy',
    rule: 4,
    title: 'changing a record after it was put does not change what is stored',
    run: async ({ store }) => {
      const task = sampleTask('route-models');
      await store.putTask(taskDir, task);
      Object.assign(task, { name: 'changed' });
      sameContent(await store.findTask(taskDir), prepared.task, 'findTask');
    },
  },
]);
