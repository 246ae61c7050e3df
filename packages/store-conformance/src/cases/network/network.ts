import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type Awaitable, type CapturedEvent, storeErrors } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { dispatchId, holdsEvents, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask, valueEvent } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import { StoreProcess } from '../../processes/store-process.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, type NamedCase, skipCase } from '../../run/conformance-case.ts';
import { assertOutage, batch, Network } from './network-under-test.ts';
import type { NetworkProxy } from './proxy.ts';

/** Calls that change something, for a time in which the server cannot be reached. None of them waits for another one. */
function changesOf({ store }: Network, ended: string): Array<readonly [string, () => unknown]> {
  const [one] = batch('one', 1);
  return [
    ['appendEvent', () => one && store.appendEvent(taskDir, dispatchId, one)],
    ['appendEvents', () => store.appendEvents(taskDir, 'MANY', batch('many'))],
    ['updateDispatch', () => store.updateDispatch(taskDir, 'UPDATED', { title: 'meanwhile' })],
    ['createDispatch', () => store.createDispatch(taskDir, sampleEnvelope(ended, { status: 'completed' }))],
    ['putTask', () => store.putTask(taskDir, sampleTask('route-models'))],
  ];
}

function readsOf({ store }: Network): Array<readonly [string, () => unknown]> {
  const has = async (what: string, events: Awaitable<readonly CapturedEvent[]>) =>
    sameContent(await events, batch('read'), `${what} during an outage`);
  return [
    ['claimDispatch', () => store.claimDispatch(taskDir, 'CLAIMED')],
    ['getDispatchEnvelope', () => store.getDispatchEnvelope(taskDir, 'READ')],
    ['getDispatchEvents', () => has('getDispatchEvents', store.getDispatchEvents(taskDir, 'READ'))],
    ['readEvents', async () => has('readEvents', (await store.readEvents(taskDir, 'READ')).events)],
    ['listDispatches', () => store.listDispatches()],
    ['listTasks', () => store.listTasks()],
    ['searchEvents', () => store.searchEvents?.('text', { taskDir })],
    ['findClaims', () => store.findClaims?.(taskDir, [dispatchId])],
    ['verifyDispatch', () => store.verifyDispatch?.(taskDir, 'READ')],
  ];
}

/** An outage: every call settles meanwhile, and afterwards the same opening works, with its claims and without a lost or doubled event. */
async function outage(
  context: CaseContext,
  begin: (network: Network) => unknown,
  end: (network: Network) => unknown = ({ proxy }) => proxy.heal(),
): Promise<void> {
  const network = await Network.open(context);
  const { store } = network;
  for (const id of [dispatchId, 'MANY', 'UPDATED', 'CLAIMED', 'READ']) await network.begin(id);
  const first = batch('before');
  await network.append(first);
  await network.append(batch('read'), 'READ');
  const all = (calls: ReturnType<typeof readsOf>) =>
    Promise.all(calls.map(([what, call]) => network.failsOrAnswers(what, call)));
  const under = all([...changesOf(network, 'ENDED-1'), ...readsOf(network)]);
  await begin(network);
  await under;
  const [failed] = await Promise.all([all(changesOf(network, 'ENDED-2')), all(readsOf(network))]);
  if (network.proxy.isApart)
    assert.ok(!failed.includes(false), 'a write was acknowledged that cannot have reached the server');
  await end(network);
  // What failed may be stored or not. It is sent again.
  await network.append(batch('one', 1));
  sameContent(await network.append(batch('after')), [4, 5, 6], 'the positions of a batch after an outage');
  sameContent(await network.append(batch('many'), 'MANY'), [0, 1, 2], 'the positions of a repeated batch');
  const envelope = await network.repeated('updateDispatch', () =>
    store.updateDispatch(taskDir, 'UPDATED', { title: 'after' }),
  );
  sameContent(envelope?.title, 'after', 'the title after an outage');
  await network.holds([...first, ...batch('one', 1), ...batch('after')]);
  await network.holds(batch('many'), 'MANY');
}

const outageCases: readonly NamedCase[] = [
  {
    name: 'cut',
    rule: null,
    title:
      'while connections are cut each call fails as transient, and afterwards the same opening works with its claims',
    run: (context) => outage(context, ({ proxy }) => proxy.cut()),
  },
  {
    name: 'silent',
    rule: null,
    title:
      'while the server does not answer no call waits longer than the store states, and afterwards the same opening works',
    run: (context) => outage(context, ({ proxy }) => proxy.silence()),
  },
  {
    name: 'half-closed',
    rule: null,
    title:
      'a connection that ends has not answered the call, and the same opening works with the next connection',
    run: (context) => outage(context, ({ proxy }) => proxy.halfClose()),
  },
  {
    name: 'restarted',
    rule: null,
    title:
      'after a server has ended its connections and refused new ones for a while, the same opening works',
    run: (context) =>
      outage(
        context,
        ({ proxy }) => void proxy.restart(150),
        () => setTimeout(300),
      ),
  },
  {
    name: 'slow',
    rule: 4,
    title: 'messages that arrive in small pieces are the same messages',
    run: async (context) => {
      const network = await Network.open(context);
      await network.begin();
      network.proxy.slowDown(5, 1);
      const events = ['ÄÖÜ ß', '漢字かな', '🙂👩‍👩‍👧', 'x'.repeat(70_000)].map((text, index) =>
        valueEvent(`slow-${index}`, { [text.slice(0, 20)]: [text, { text }] }),
      );
      sameContent(await network.append(events), [0, 1, 2, 3], 'the positions');
      await network.holds(events);
      network.proxy.heal();
      await holdsEvents(network.store, events);
    },
  },
  {
    name: 'late-replies',
    rule: null,
    title: 'a reply that comes after its call has failed is not taken for the reply of another call',
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      for (const id of ['A', 'B']) {
        await network.begin(id);
        await network.append(batch(`of-${id}`), id);
      }
      const events = (id: string) => () => store.getDispatchEvents(taskDir, id);
      for (const late of [events('A'), () => store.getDispatchEnvelope(taskDir, 'A')]) {
        proxy.holdReplies();
        await network.failsOrAnswers('a read whose reply is late', late);
        const next = network.repeated('getDispatchEvents', events('B'));
        proxy.heal();
        sameContent(await next, batch('of-B'), 'getDispatchEvents after a late reply');
      }
    },
  },
  {
    name: 'opened-while-cut',
    rule: null,
    title:
      'an opening that cannot reach the server fails as transient, keeps no connection, and succeeds later',
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      if (context.capabilities.writers === 'process') await store.close();
      const open = async () => {
        const opened = await context.network?.open(proxy.address);
        if (opened !== undefined) context.atEnd(() => opened.close());
        return opened;
      };
      for (const fault of ['cut', 'silence'] as const) {
        const before = proxy.connections;
        proxy[fault]();
        await network.failsOrAnswers('an opening', async () => {
          // A store that connects later opens, and its first call fails.
          await (await open())?.listTasks();
        });
        await network.hasConnections(before, 'an opening that failed has left a connection');
        proxy.heal();
      }
      const opened = await network.repeated('an opening', open);
      sameContent(await opened?.listTasks(), [], 'listTasks of a new store');
    },
  },
  {
    name: 'watched',
    rule: null,
    title: 'a listener is called for changes during an outage and after it',
    needs: ['watch'],
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      await network.begin();
      if (context.capabilities.writers === 'dispatch') await store.releaseDispatch(taskDir, dispatchId);
      const writer = (await network.direct(context)) ?? store;
      await writer.claimDispatch(taskDir, dispatchId);
      let calls = 0;
      const stop = await optionalMethod(store, 'watch')({ taskDir }, () => {
        calls += 1;
      });
      const isCalled = async (what: string, change: () => unknown) => {
        const before = calls;
        await network.repeated(what, change);
        const end = performance.now() + network.outageMs;
        while (calls === before && performance.now() < end) await setTimeout(5);
        assert.ok(calls > before, `the listener was not called ${what}`);
      };
      const append = (id: string) => () => writer.appendEvent(taskDir, dispatchId, sampleEvent(id));
      await isCalled('before the outage', append('before'));
      proxy.cut();
      // A store that one process opens changes nothing meanwhile.
      const { attempts } = proxy;
      await setTimeout(200);
      assert.ok(proxy.attempts < attempts + 20, 'the store connects again without a pause');
      if (writer !== store)
        await isCalled('for a change during the outage', async () => {
          await append('during')();
          setTimeout(50).then(() => proxy.heal());
        });
      proxy.heal();
      await isCalled('after a cut', append('after-cut'));
      await proxy.restart(50);
      await isCalled('after a restart', append('after-restart'));
      proxy.halfClose();
      await isCalled('after a half-closed connection', append('after-half-close'));
      await stop();
    },
  },
];

/** Closes a store in an outage. */
async function closedIn(context: CaseContext, fault: (proxy: NetworkProxy) => void): Promise<void> {
  const network = await Network.open(context);
  const { proxy, store } = network;
  await network.begin();
  if (store.watch !== undefined) await store.watch({ taskDir, dispatchId }, () => {});
  await network.append(batch('before'));
  fault(proxy);
  const under = network.settles('an append under way at `close`', async () => {
    try {
      await store.appendEvents(taskDir, dispatchId, batch('under'));
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CLOSED')) assertOutage(error, 'an append under way at `close`');
    }
  });
  await network.settles('`close` during an outage', () => store.close());
  await under;
  await network.settles('a second `close`', () => store.close());
  await refuses('STORE_CLOSED', 'listTasks after `close`', () => store.listTasks());
  await network.hasConnections(0, 'a closed store has a connection');
  proxy.heal();
  const { attempts } = proxy;
  await setTimeout(150);
  sameContent([proxy.connections, proxy.attempts], [0, attempts], 'the connections of a closed store later');
}

const closeCases: readonly NamedCase[] = [
  {
    name: 'closed-while-cut',
    rule: 9,
    title:
      '`close` ends while connections are cut, and the store has no connection afterwards and makes none',
    run: (context) => closedIn(context, (proxy) => proxy.cut()),
  },
  {
    name: 'closed-while-silent',
    rule: 9,
    title:
      '`close` ends while the server does not answer, and the store has no connection afterwards and makes none',
    run: (context) => closedIn(context, (proxy) => proxy.silence()),
  },
  {
    name: 'process-ends',
    rule: 9,
    title: 'a process whose store was closed during an outage ends by itself: nothing is left in it',
    run: async (context) => {
      const { network } = context;
      const { proxy, limitMs } = await Network.open(context);
      const elsewhere = network?.elsewhere?.(proxy.address);
      if (elsewhere === undefined)
        skipCase('the `network` of the fixture has no `elsewhere`, which opens the store in another process');
      for (const fault of ['cut', 'silence'] as const) {
        const child = await new StoreProcess({ ...context, elsewhere }).opened();
        await child.call('listTasks');
        proxy[fault]();
        await child.call('close');
        await child.endsByItself(limitMs);
        proxy.heal();
      }
    },
  },
];

const otherCases: readonly NamedCase[] = [
  {
    name: 'claim-taken-meanwhile',
    rule: 6,
    title: 'an opening whose claim another one took during an outage writes nothing afterwards: STORE_LOCKED',
    needs: ['writers'],
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      const direct = context.store;
      await network.begin();
      await network.append(batch('before'));
      proxy.cut();
      await network.failsOrAnswers('appendEvents', () =>
        store.appendEvents(taskDir, dispatchId, batch('lost')),
      );
      await optionalMethod(direct, 'breakClaim')(taskDir, dispatchId);
      await direct.claimDispatch(taskDir, dispatchId);
      await direct.appendEvents(taskDir, dispatchId, batch('of-the-other'));
      proxy.heal();
      const refused = () =>
        refuses('STORE_LOCKED', 'appendEvents', () => store.appendEvents(taskDir, dispatchId, batch('late')));
      const end = performance.now() + network.outageMs;
      for (;;) {
        try {
          await refused();
          break;
        } catch (error) {
          const { cause } = error as Error;
          if (!storeErrors.is(cause, 'STORE_UNAVAILABLE') || !cause.isTransient || performance.now() > end)
            throw error;
        }
        await setTimeout(20);
      }
      sameContent(
        await direct.getDispatchEvents(taskDir, dispatchId),
        [...batch('before'), ...batch('of-the-other')],
        'getDispatchEvents',
      );
    },
  },
  {
    name: 'random-outages',
    rule: 2,
    title:
      'three dispatches that are written during cuts, lost replies, restarts and half-closed connections have each event once and in order',
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      const random = createRandom(chooseSeed(context.seed));
      const ids = ['A', 'B', 'C'];
      for (const id of ids) await network.begin(id);
      let isRunning = true;
      const attacks = (async () => {
        while (isRunning) {
          await setTimeout(random.below(15));
          const kind = random.below(4);
          if (kind === 0) proxy.cut();
          else if (kind === 1) proxy.loseReply(random.below(6));
          else if (kind === 2) proxy.halfClose();
          else await proxy.restart(random.below(20));
          await setTimeout(random.below(15));
          proxy.heal();
        }
      })();
      await Promise.all(
        ids.map(async (id) => {
          for (let count = 0; count < 25; count += 1) await network.append(batch(`${id}-${count}`, 2), id);
        }),
      ).finally(async () => {
        isRunning = false;
        await attacks;
      });
      for (const id of ids)
        await holdsEvents(
          store,
          Array.from({ length: 25 }, (_, count) => batch(`${id}-${count}`, 2)).flat(),
          { taskDir, dispatchId: id },
        );
    },
  },
  {
    name: 'requests',
    rule: 5,
    title:
      'the requests of an append, a page, a listing and several claims do not grow with events, dispatches and ids',
    run: async (context) => {
      const network = await Network.open(context);
      const { proxy, store } = network;
      const count = async (call: () => unknown) => {
        const before = proxy.requests;
        await call();
        return proxy.requests - before;
      };
      await network.begin();
      const measure = async (round: string) => ({
        one: await count(() => store.appendEvents(taskDir, dispatchId, batch(`one-${round}`, 1))),
        page: await count(() => store.readEvents(taskDir, dispatchId, { last: 5 })),
        listing: await count(() => store.listDispatches({ taskDir })),
        claims: await count(() => store.findClaims?.(taskDir, ids)),
      });
      let ids = ['D-0'];
      for (let number = 0; number < 2; number += 1) await network.begin(`D-${number}`);
      await measure('warm');
      const few = await measure('few');
      const many = await count(() => store.appendEvents(taskDir, dispatchId, batch('many', 400)));
      for (let number = 2; number < 60; number += 1) await network.begin(`D-${number}`);
      ids = Array.from({ length: 60 }, (_, number) => `D-${number}`);
      const grown = await measure('grown');
      // A heartbeat or a listener of the store may send a request at any time.
      for (const name of ['one', 'page', 'listing', 'claims'] as const)
        assert.ok(
          grown[name] <= few[name] + 12,
          `${name}: ${few[name]} requests for a few, ${grown[name]} for many`,
        );
      assert.ok(many <= few.one + 12, `${few.one} requests for one event, ${many} for 400`);
    },
  },
];

/** A proxy of the kit stands between the store and its server. */
export const networkCases = caseFamily('network', [...outageCases, ...closeCases, ...otherCases]);
