import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEvents } from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

const refusals = storeOperations.map(
  (operation): NamedCase => ({
    name: operation.name,
    rule: 9,
    title: `${operation.method} on a closed store is STORE_CLOSED`,
    needs: operation.needs,
    run: async ({ store }) => {
      const isOptional = operation.method === 'getRepairs' || operation.method === 'removeRemains';
      if (isOptional && store[operation.method as 'getRepairs' | 'removeRemains'] === undefined) return;
      await prepareStore(store);
      await store.close();
      await refuses('STORE_CLOSED', operation.method, () => operation.call(store, taskDir, dispatchId));
    },
  }),
);

export const closedCases = caseFamily('closed', [
  ...refusals,
  {
    name: 'close-again',
    rule: 9,
    title: 'closing twice, including at the same time, is safe',
    run: async ({ store }) => {
      await prepareStore(store);
      const errors = await errorsOf([() => store.close(), () => store.close()]);
      sameContent(errors.map(String), [], 'errors of two calls of close');
      await store.close();
    },
  },
  {
    name: 'refused-writes-leave-nothing',
    rule: 9,
    title: 'a write that a closed store refused is missing after it was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await prepareStore(store);
      await store.close();
      const writes = storeOperations.filter(({ method }) =>
        /^(create|update|append|put|delete)/.test(method),
      );
      for (const { method, needs, call } of writes) {
        if (needs.length > 0 && store.deleteDispatch === undefined) continue;
        await refuses('STORE_CLOSED', method, () => call(store, taskDir, dispatchId));
      }
      const again = await reopen();
      await holdsEvents(again, prepared.events);
      sameContent(await again.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
      sameContent(await again.findTask(taskDir), prepared.task, 'findTask');
    },
  },
  {
    name: 'finishes-what-is-under-way',
    rule: 2,
    title: 'an append that was acknowledged while the store closed exists after it was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store);
      const acknowledged = new Set<string>();
      const appends = sampleEvents(20).map((event) => async () => {
        await store.appendEvent(taskDir, dispatchId, event);
        acknowledged.add(event.id);
      });
      await errorsOf([...appends, () => store.close()]);
      const stored = await (await reopen()).getDispatchEvents(taskDir, dispatchId);
      const ids = new Set(stored.map(({ id }) => id));
      sameContent(
        [...acknowledged].filter((id) => !ids.has(id)),
        [],
        'acknowledged events that are gone',
      );
    },
  },
]);
