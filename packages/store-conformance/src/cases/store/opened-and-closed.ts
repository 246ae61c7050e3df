import assert from 'node:assert/strict';
import { type CapturedEvent, describeContractProblem, requiredMethods } from '@hansard/provider';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  prepared,
  prepareStore,
  reopenClaimed,
  taskDir,
} from '../../checks/prepared-store.ts';
import {
  sampleEnvelope,
  sampleEvent,
  sampleEvents,
  sampleTask,
  valueEvent,
} from '../../checks/sample-data.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily, type NamedCase } from '../../run/conformance-case.ts';

export const capabilityCases = caseFamily('capabilities', [
  {
    name: 'contract-version',
    rule: null,
    title: 'the opened store states the version of the contract that it implements',
    run: async ({ store }) => {
      const problem = describeContractProblem(store.contract);
      assert.equal(problem, null, `the store ${problem}`);
    },
  },
  {
    name: 'as-stated',
    rule: null,
    title: 'the opened store states the capabilities that its author tests it with, as plain data',
    atEachDurability: true,
    run: async ({ store, capabilities }) => {
      sameContent(store.capabilities, capabilities, 'capabilities');
      sameContent(structuredClone(store.capabilities), capabilities, 'a copy of the capabilities');
    },
  },
  {
    name: 'methods-there',
    rule: null,
    title: 'every method of the contract exists, and each optional one exactly if its flag is set',
    run: async ({ store, capabilities }) => {
      const methods = store as unknown as Record<string, unknown>;
      for (const name of requiredMethods.DispatchStoreProvider)
        assert.equal(typeof methods[name], 'function', `${name} is missing`);
      const optional = {
        searchEvents: capabilities.search,
        watch: capabilities.watch,
        deleteDispatch: capabilities.deleteDispatch,
        rewriteDispatch: capabilities.rewrite,
      };
      for (const [name, claimed] of Object.entries(optional))
        assert.equal(
          typeof methods[name],
          claimed ? 'function' : 'undefined',
          `${name} does not match its flag`,
        );
      if (!capabilities.rewrite)
        assert.equal(typeof methods.removeRemains, 'undefined', 'removeRemains needs the flag `rewrite`');
    },
  },
  {
    name: 'claim-methods',
    rule: 6,
    title: 'a store with several writers can show the claims of dispatches, and break them',
    needs: ['writers'],
    run: async ({ store }) => {
      assert.equal(typeof store.findClaim, 'function', 'findClaim is missing');
      assert.equal(typeof store.findClaims, 'function', 'findClaims is missing');
      assert.equal(typeof store.breakClaim, 'function', 'breakClaim is missing');
    },
  },
  {
    name: 'integrity-methods',
    rule: 7,
    title: 'a store that detects changed bytes can verify a dispatch, and accept its loss',
    needs: ['integrity'],
    run: async ({ store }) => {
      assert.equal(typeof store.verifyDispatch, 'function', 'verifyDispatch is missing');
      assert.equal(typeof store.acceptLoss, 'function', 'acceptLoss is missing');
    },
  },
]);

export const openCases = caseFamily(
  'open',
  storeOperations.map((operation) => ({
    name: operation.name,
    rule: null,
    title: `${operation.method} works on an open store`,
    needs: operation.needs,
    run: async ({ store }) => {
      await prepareStore(store);
      await operation.verify(await operation.call(store, taskDir, dispatchId), store);
    },
  })),
);

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

const operations = storeOperations.map(
  (operation): NamedCase => ({
    name: operation.name,
    rule: 2,
    title: `${operation.method} works on a store that was closed and opened again`,
    needs: ['durability', ...operation.needs],
    run: async ({ store, reopen }) => {
      await prepareStore(store);
      const again = operation.needsClaim ? await reopenClaimed({ reopen }) : await reopen();
      await operation.verify(await operation.call(again, taskDir, dispatchId), again);
    },
  }),
);

export const reopenedCases = caseFamily('reopened', [
  ...operations,
  {
    name: 'everything',
    rule: 2,
    title: 'all tasks, dispatches and events exist each time the store is opened',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      const tasks = ['p/tasks/one', 'p/tasks/one/inner', 'q'];
      const ids = ['A', 'B'];
      await store.putTask('only-a-record', sampleTask('only-a-record'));
      for (const task of tasks) {
        if (task !== 'q') await store.putTask(task, sampleTask(task));
        for (const id of ids) {
          await store.createDispatch(task, sampleEnvelope(id));
          await store.appendEvents(task, id, sampleEvents(5, `${id}-${task.length}`));
          await store.updateDispatch(task, id, { status: 'completed', structuredResult: { task, id } });
        }
      }
      for (let opening = 0; opening < 3; opening += 1) {
        const again = await reopen();
        const records = [...tasks, 'only-a-record'].sort().map((task) => ({
          taskDir: task,
          task: task === 'q' ? null : sampleTask(task),
        }));
        sameContent(await again.listTasks(), records, 'listTasks');
        for (const task of tasks) {
          const envelopes = ids.map((id) =>
            sampleEnvelope(id, { status: 'completed', structuredResult: { task, id } }),
          );
          sameContent(await again.getDispatchEnvelopes(task), envelopes, `getDispatchEnvelopes(${task})`);
          for (const id of ids)
            await holdsEvents(again, sampleEvents(5, `${id}-${task.length}`), {
              taskDir: task,
              dispatchId: id,
            });
        }
      }
    },
  },
  {
    name: 'retry',
    rule: 3,
    title: 'a retry is safe and a conflict is refused, including after the store was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store, prepared.events);
      const again = await reopenClaimed({ reopen });
      const [first] = prepared.events as readonly CapturedEvent[];
      if (first !== undefined) await again.appendEvent(taskDir, dispatchId, first);
      await again.appendEvents(taskDir, dispatchId, [...prepared.events, sampleEvent('new')]);
      await refuses('STORE_EVENT_CONFLICT', 'other content', () =>
        again.appendEvent(taskDir, dispatchId, sampleEvent('event-1', 'other content')),
      );
      await refuses('STORE_DISPATCH_EXISTS', 'createDispatch', () =>
        again.createDispatch(taskDir, prepared.envelope),
      );
      await holdsEvents(again, [...prepared.events, sampleEvent('new')]);
      await holdsEvents(await reopen(), [...prepared.events, sampleEvent('new')]);
    },
  },
  {
    name: 'goes-on',
    rule: 2,
    title: 'a dispatch continues over many openings, and its events keep their positions',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store);
      const events = sampleEvents(12);
      let current = store;
      for (const [index, event] of events.entries()) {
        if (index % 4 === 3) await current.updateDispatch(taskDir, dispatchId, { cost: index });
        await current.appendEvent(taskDir, dispatchId, event);
        current = await reopenClaimed({ reopen });
        sameContent(
          await current.readEvents(taskDir, dispatchId, { after: index - 1 }),
          { events: [event], first: index, next: index },
          `the page behind ${index - 1}`,
        );
      }
      await holdsEvents(current, events);
    },
  },
  {
    name: 'values',
    rule: 4,
    title: 'unusual values are the same after the store was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      const proto = JSON.parse('{"__proto__":{"a":1}}') as Record<string, never>;
      const data = {
        text: 'a\0b\u2028c\ud800d🎈"]}\n',
        '\udfff': 1,
        big: 'é'.repeat(100_000),
        proto,
        number: 1e21,
      };
      const events = [valueEvent('one', data), sampleEvent('two')];
      await beginDispatch(store, events);
      await store.updateDispatch(taskDir, dispatchId, { structuredResult: data });
      const again = await reopenClaimed({ reopen });
      await again.appendEvents(taskDir, dispatchId, events);
      await holdsEvents(again, events);
      sameContent(
        await again.getDispatchEnvelope(taskDir, dispatchId),
        { ...prepared.envelope, structuredResult: data },
        'getDispatchEnvelope',
      );
    },
  },
  {
    name: 'refused-batch',
    rule: 2,
    title: 'a batch that was refused is missing after the store was opened again',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await beginDispatch(store, prepared.events);
      const batch = [sampleEvent('new'), sampleEvent('event-1', 'other content')];
      await refuses('STORE_EVENT_CONFLICT', 'appendEvents', () =>
        store.appendEvents(taskDir, dispatchId, batch),
      );
      await holdsEvents(await reopen(), prepared.events);
    },
  },
  {
    name: 'still-running',
    rule: 2,
    title: 'opening a store changes no envelope: a dispatch that was running is listed as running',
    needs: ['durability'],
    run: async ({ store, reopen }) => {
      await prepareStore(store);
      const again = await reopen();
      sameContent(await again.getDispatchEnvelopes(taskDir), [prepared.envelope], 'getDispatchEnvelopes');
    },
  },
]);
