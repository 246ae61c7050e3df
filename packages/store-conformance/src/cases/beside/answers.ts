import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Awaitable, type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  optionalMethod,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** The result of a call, an error as well; fails if there is none in time. */
async function settles(patienceMs: number, what: string, call: () => Awaitable<unknown>): Promise<unknown> {
  const late = new AbortController();
  const tooLate = setTimeout(patienceMs, undefined, { signal: late.signal }).then(
    () => assert.fail(`${what} did not answer within ${patienceMs} ms`),
    () => undefined,
  );
  try {
    return await Promise.race([
      (async () => call())().catch((error: unknown) => {
        assert.ok(storeErrors.is(error), `${what} failed with ${String(error)}`);
        return error.code;
      }),
      tooLate,
    ]);
  } finally {
    late.abort();
  }
}

const reads = (store: DispatchStoreProvider): Array<readonly [string, () => Awaitable<unknown>]> => [
  ['readEvents', () => store.readEvents(taskDir, dispatchId)],
  ['getDispatchEvents', () => store.getDispatchEvents(taskDir, dispatchId)],
  ['getDispatchEnvelope', () => store.getDispatchEnvelope(taskDir, dispatchId)],
  ['listDispatches', () => store.listDispatches()],
];

export const answerCases = caseFamily('answers', [
  {
    name: 'several-at-once',
    rule: 6,
    title: 'each of eight equal calls at the same time is answered, and so are calls after many refusals',
    run: async ({ store, patienceMs }) => {
      await beginDispatch(store, sampleEvents(3));
      for (const [what, read] of reads(store))
        await Promise.all(
          Array.from({ length: 8 }, () => settles(patienceMs, `${what} at the same time`, read)),
        );
      for (let count = 0; count < 30; count += 1)
        for (const call of [
          () => store.getDispatchEvents(taskDir, 'MISSING'),
          () => store.appendEvent(taskDir, 'MISSING', sampleEvent('late')),
        ])
          sameContent(
            await settles(patienceMs, 'a refused call', call),
            'STORE_DISPATCH_NOT_FOUND',
            'the answer for a missing dispatch',
          );
      for (const [what, read] of reads(store)) await settles(patienceMs, `${what} after refusals`, read);
      const positions = await settles(patienceMs, 'appendEvents after refusals', () =>
        store.appendEvents(taskDir, dispatchId, sampleEvents(2, 'late')),
      );
      sameContent(positions, [3, 4], 'the positions after refusals');
    },
  },
  {
    name: 'own-answers',
    rule: 6,
    title: 'each of several appends under way gets its own answer',
    run: async ({ store, patienceMs }) => {
      const ids = ['A', 'B', 'C', 'D'];
      for (const [index, id] of ids.entries()) {
        await store.createDispatch(taskDir, sampleEnvelope(id));
        if (index > 0) await store.appendEvents(taskDir, id, sampleEvents(index * 3));
      }
      const answers = await Promise.all(
        ids.map((id) =>
          settles(patienceMs, 'appendEvents', () => store.appendEvents(taskDir, id, sampleEvents(2, 'next'))),
        ),
      );
      sameContent(
        answers,
        ids.map((_, index) => [index * 3, index * 3 + 1]),
        'the positions of appends to several dispatches',
      );
    },
  },
  {
    name: 'at-once',
    rule: 2,
    title: 'a change has its effect when it is answered, and not later',
    run: async ({ store, patienceMs }) => {
      await beginDispatch(store, sampleEvents(2));
      await store.appendEvents(taskDir, dispatchId, sampleEvents(1, 'late'));
      sameContent(
        (await store.getDispatchEvents(taskDir, dispatchId)).length,
        3,
        'the number of events after an append',
      );
      await store.updateDispatch(taskDir, dispatchId, { cost: 3 });
      sameContent(
        (await store.getDispatchEnvelope(taskDir, dispatchId))?.cost,
        3,
        'the cost after an update',
      );
      await store.releaseDispatch(taskDir, dispatchId);
      const refused = await settles(patienceMs, 'appendEvent after a release', () =>
        store.appendEvent(taskDir, dispatchId, sampleEvent('unclaimed')),
      );
      sameContent(refused, 'STORE_LOCKED', 'the answer after a release');
      if (store.deleteDispatch === undefined) return;
      await store.deleteDispatch(taskDir, dispatchId);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        null,
        'the envelope after a deletion',
      );
    },
  },
  {
    name: 'closed-under-way',
    rule: 9,
    title:
      'calls that are under way at `close` are answered, and `close` ends beside them, beside itself, and beside claims and listeners',
    run: async ({ store, patienceMs }) => {
      await beginDispatch(store, sampleEvents(3));
      for (const id of ['A', 'B', 'C']) await store.createDispatch(taskDir, sampleEnvelope(id));
      if (store.watch !== undefined) await store.watch({ taskDir }, () => {});
      const under = [...reads(store), ...reads(store)].map(([what, read]) =>
        settles(patienceMs, `${what} under way at close`, read),
      );
      const append = settles(patienceMs, 'appendEvents under way at `close`', () =>
        store.appendEvents(taskDir, dispatchId, sampleEvents(2, 'late')),
      );
      const closes = [1, 2, 3].map((number) => settles(patienceMs, `close ${number}`, () => store.close()));
      await Promise.all([...under, append, ...closes]);
      await settles(patienceMs, 'a later `close`', () => store.close());
      sameContent(
        await settles(patienceMs, 'listTasks', () => store.listTasks()),
        'STORE_CLOSED',
        'the answer after `close`',
      );
    },
  },
  {
    name: 'listeners',
    rule: null,
    title:
      "a listener is not called after its `stop` or after `close`; each `stop` ends one, also of one function; its error is not the writer's",
    needs: ['watch'],
    run: async ({ store, patienceMs }) => {
      await beginDispatch(store);
      const watch = optionalMethod(store, 'watch');
      const calls = { stopped: 0, same: 0, kept: 0 };
      const same = () => {
        calls.same += 1;
      };
      const stopStopped = await watch({ taskDir }, () => {
        calls.stopped += 1;
      });
      await watch({ taskDir }, () => {
        calls.kept += 1;
      });
      const stops = [await watch({ taskDir }, same), await watch({ taskDir }, same)];
      const until = async (what: string, holds: () => boolean) => {
        const end = performance.now() + patienceMs;
        while (!holds() && performance.now() < end) await setTimeout(5);
        assert.ok(holds(), what);
      };
      await store.appendEvent(taskDir, dispatchId, sampleEvent('one'));
      stopStopped();
      const atStop = calls.stopped;
      stops[0]?.();
      await until('the listener that stays is called', () => calls.kept > 0);
      await setTimeout(100);
      sameContent(calls.stopped, atStop, 'the calls of a listener that was stopped');
      const before = calls.same;
      await store.appendEvent(taskDir, dispatchId, sampleEvent('two'));
      await until('the second listener with the same function is called', () => calls.same > before);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('three'));
      await store.close();
      const atClose = { ...calls };
      await setTimeout(100);
      await setImmediate();
      sameContent(calls, atClose, 'the calls of listeners after `close`');
    },
  },
  {
    name: 'constant-capabilities',
    rule: null,
    title: 'the capabilities stay the same data while the store is used and after `close`',
    run: async ({ store, capabilities }) => {
      const stated = JSON.stringify(store.capabilities);
      await prepareStore(store);
      for (let read = 0; read < 10; read += 1)
        sameContent(JSON.stringify(store.capabilities), stated, 'the capabilities later');
      await store.close();
      sameContent(JSON.stringify(store.capabilities), stated, 'the capabilities after `close`');
      sameContent(store.capabilities, capabilities, 'the capabilities');
    },
  },
  {
    name: 'checked-bytes',
    rule: null,
    title: 'the number of bytes that `verifyDispatch` checks grows with the stored content',
    needs: ['integrity'],
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('one')]);
      const verify = optionalMethod(store, 'verifyDispatch');
      const { bytes } = await verify(taskDir, dispatchId);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('two', 'x'.repeat(50_000)));
      const grown = await verify(taskDir, dispatchId);
      assert.ok(grown.bytes > bytes, `${grown.bytes} bytes after another event of 50 kB, ${bytes} before`);
    },
  },
]);
