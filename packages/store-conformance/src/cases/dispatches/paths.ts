import { storeErrors } from '@hansard/provider';
import { evilDispatchIds, evilTaskDirs } from '../../checks/evil-names.ts';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { dispatchId, holdsEvents, prepared, prepareStore, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

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
        sameContent(await store.listTasks(), [{ taskDir, task: prepared.task }], 'listTasks afterwards');
        sameContent(
          await store.getDispatchEnvelopes(taskDir),
          [prepared.envelope],
          'getDispatchEnvelopes afterwards',
        );
        await holdsEvents(store, prepared.events);
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
