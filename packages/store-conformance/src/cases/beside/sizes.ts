import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CapturedEvent, DispatchStoreProvider } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleTask, valueEvent } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** Each fifth event has a word, and one near the end another one. */
const eventAt = (position: number): CapturedEvent =>
  valueEvent(`e${position}`, position % 5 === 0 ? { text: 'badger', position } : { position });

const eventsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => eventAt(first + index));

const positionsOf = (events: readonly CapturedEvent[]) => events.map(({ data }) => data.position);
const positions = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => first + index);

/** Fills the dispatch of most cases, and checks each answer. */
async function fill(store: DispatchStoreProvider, count: number): Promise<void> {
  await beginDispatch(store);
  for (let first = 0; first < count; first += 5_000)
    sameContent(
      await store.appendEvents(taskDir, dispatchId, eventsFrom(first, 5_000)),
      positions(first, 5_000),
      'the positions of a batch',
    );
}

async function readsOfLongLog(store: DispatchStoreProvider, count: number): Promise<void> {
  const page = await store.readEvents(taskDir, dispatchId, { after: count - 40_001, limit: 30_000 });
  sameContent(
    [page.first, page.next],
    [count - 40_000, count - 10_001],
    'the places of a page of 30,000 events',
  );
  sameContent(positionsOf(page.events), positions(count - 40_000, 30_000), 'a page of 30,000 events');
  const rest = await store.readEvents(taskDir, dispatchId, { after: count - 11 });
  sameContent(positionsOf(rest.events), positions(count - 10, 10), 'the page after a late cursor');
  const last = await store.readEvents(taskDir, dispatchId, { last: 5_000 });
  sameContent([last.first, last.events.length], [count - 5_000, 5_000], 'the last 5,000 events');
  const recent = await store.getRecentEvents(taskDir, dispatchId, 12_000);
  sameContent(positionsOf(recent), positions(count - 12_000, 12_000), 'getRecentEvents of 12,000 events');
  if (count > 100_000) return;
  sameContent(
    positionsOf(await store.getDispatchEvents(taskDir, dispatchId)),
    positions(0, count),
    'getDispatchEvents',
  );
}

async function repeatsInLongLog(store: DispatchStoreProvider, count: number): Promise<void> {
  for (const position of [3, count / 2, count - 2])
    sameContent(
      await store.appendEvents(taskDir, dispatchId, [eventAt(position), eventAt(3)]),
      [position, 3],
      'the positions of repeated events',
    );
  for (const position of [3, count - 2])
    await refuses('STORE_EVENT_CONFLICT', `other content for event ${position} of ${count}`, () =>
      store.appendEvent(taskDir, dispatchId, { ...eventAt(position), data: { other: true } }),
    );
  sameContent(
    await store.appendEvent(taskDir, dispatchId, sampleEvent('walrus', 'walrus')),
    count,
    'the position of the next event',
  );
}

async function rareCallsInLongLog(store: DispatchStoreProvider, count: number): Promise<void> {
  if (store.searchEvents !== undefined) {
    const late = await store.searchEvents('walrus', { taskDir });
    sameContent(
      late.map(({ position }) => position),
      [count],
      'the position of the last event in a search',
    );
    const limit = count / 5 - 500;
    const hits = await store.searchEvents('badger', { taskDir, limit });
    sameContent(hits.length, limit, `the number of hits with a limit of ${limit}`);
  }
  const found = await store.verifyDispatch?.(taskDir, dispatchId);
  sameContent(found?.wholeEvents ?? count + 1, count + 1, 'the events that verifyDispatch counts');
  if (store.rewriteDispatch === undefined) return;
  await store.rewriteDispatch(taskDir, dispatchId, {
    envelope: (envelope) => envelope,
    event: (event) =>
      event.id === `e${count - 9}` || event.id === 'e9' ? { ...event, data: { position: -1 } } : event,
  });
  const ends = [
    ...(await store.readEvents(taskDir, dispatchId, { after: 8, limit: 2 })).events,
    ...(await store.readEvents(taskDir, dispatchId, { after: count - 10, limit: 2 })).events,
  ];
  sameContent(positionsOf(ends), [-1, 10, -1, count - 8], 'the events around two that a rewrite changed');
}

/** Collects what nobody refers to. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Bytes of a text in each call below. A store that keeps something of each call keeps more than that. */
const bytesOfCall = 4_000;
const calls = 200;

/** The bytes in use when collecting frees no more: V8 frees the code of functions that are not used any longer only after some collections. */
function settledHeap(): number {
  let used = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 8; turn += 1) {
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > used - (calls * bytesOfCall) / 16) return heapUsed;
    used = heapUsed;
  }
  return used;
}

/** Fails if the memory of the process grows with the calls, in each of several attempts: other work of the process may do so once. */
async function doesNotGrow(what: string, call: (number: number) => unknown): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let number = 0;
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const before = settledHeap();
    for (let count = 0; count < calls; count += 1) {
      number += 1;
      await call(number);
    }
    await setImmediate();
    collect();
    least = Math.min(least, process.memoryUsage().heapUsed - before);
    if (least < (calls * bytesOfCall) / 2) return;
  }
  assert.fail(`${what}: the memory grows by at least ${Math.round(least / calls)} bytes for each call`);
}

const longText = (number: number) => Buffer.alloc(bytesOfCall, `${number} `).toString('latin1');

/** How many of something a profile has. */
const many = ({ large }: CaseContext, quick: number, ofLarge: number) => (large ? ofLarge : quick);

export const sizeCases = caseFamily('sizes', [
  {
    name: 'long-log',
    rule: 5,
    title:
      'a dispatch of 70,000 events (large: 1,000,000) has each event at its position in every way to read, repeat, search and rewrite it',
    run: async (context) => {
      const { store } = context;
      const count = many(context, 70_000, 1_000_000);
      await fill(store, count);
      await readsOfLongLog(store, count);
      await repeatsInLongLog(store, count);
      await rareCallsInLongLog(store, count);
    },
  },
  {
    name: 'many-dispatches',
    rule: 1,
    title: 'a task of 250 dispatches (large: 5,000) is listed whole',
    run: async (context) => {
      const { store } = context;
      const count = many(context, 250, 5_000);
      for (let number = 0; number < count; number += 1)
        await store.createDispatch(
          taskDir,
          sampleEnvelope(`D-${String(number).padStart(6, '0')}`, { status: 'completed' }),
        );
      let listed = 0;
      let after: string | null | undefined;
      do {
        const page = await store.listDispatches({ taskDir, ...(after && { after }) });
        listed += page.dispatches.length;
        after = page.next;
      } while (after !== null);
      sameContent(listed, count, 'the number of listed dispatches');
    },
  },
  {
    name: 'many-tasks',
    rule: 1,
    title: '250 tasks (large: 5,000) are listed whole',
    run: async (context) => {
      const { store } = context;
      const count = many(context, 250, 5_000);
      for (let number = 0; number < count; number += 1)
        await store.putTask(`lab/task-${number}`, sampleTask('task'));
      sameContent((await store.listTasks()).length, count, 'the number of listed tasks');
    },
  },
  {
    name: 'many-claims',
    rule: 6,
    title: 'the epoch grows with each of 260 claims',
    run: async ({ store }) => {
      await beginDispatch(store);
      let before = 0;
      for (let count = 0; count < 260; count += 1) {
        await store.releaseDispatch(taskDir, dispatchId);
        const { epoch } = await store.claimDispatch(taskDir, dispatchId);
        assert.ok(epoch > before, `the epoch is ${epoch} after ${before}`);
        before = epoch;
      }
    },
  },
  {
    name: 'many-updates',
    rule: 1,
    title: 'each of 150 updates (large: 5,000) has its effect',
    run: async (context) => {
      const { store } = context;
      const count = many(context, 150, 5_000);
      await beginDispatch(store);
      for (let cost = 1; cost <= count; cost += 1) await store.updateDispatch(taskDir, dispatchId, { cost });
      sameContent((await store.getDispatchEnvelope(taskDir, dispatchId))?.cost, count, 'the cost');
    },
  },
  {
    name: 'many-changes',
    rule: null,
    title: 'a listener is still called after 100 changes (large: 5,000)',
    needs: ['watch'],
    run: async (context) => {
      const { store } = context;
      const count = many(context, 100, 5_000);
      await beginDispatch(store);
      let called = 0;
      const stop = await optionalMethod(store, 'watch')({ taskDir, dispatchId }, () => {
        called += 1;
      });
      for (let number = 0; number < count; number += 1)
        await store.appendEvent(taskDir, dispatchId, sampleEvent(`event-${number}`));
      let before = -1;
      while (called !== before) {
        before = called;
        await setTimeout(60);
      }
      await store.appendEvent(taskDir, dispatchId, sampleEvent('last'));
      const end = performance.now() + 10_000;
      while (called === before && performance.now() < end) await setTimeout(5);
      assert.ok(
        called > before,
        `the listener was called ${called} times, and not for the change after those`,
      );
      stop();
    },
  },
  {
    name: 'memory',
    rule: 5,
    alone: true,
    title: 'memory does not grow with reads, searches, listeners, updates and claims',
    run: async ({ store }) => {
      await beginDispatch(store, [sampleEvent('event-0', `walrus ${longText(1)}`)]);
      await store.createDispatch(taskDir, sampleEnvelope('OTHER', { title: longText(2) }));
      await doesNotGrow('readEvents', () => store.readEvents(taskDir, dispatchId));
      await doesNotGrow('updateDispatch', (number) =>
        store.updateDispatch(taskDir, dispatchId, { title: longText(number) }),
      );
      await doesNotGrow('claimDispatch', async () => {
        await store.releaseDispatch(taskDir, 'OTHER');
        await store.claimDispatch(taskDir, 'OTHER');
      });
      if (store.searchEvents !== undefined)
        await doesNotGrow('searchEvents', () => store.searchEvents?.('walrus', { taskDir, dispatchId }));
      if (store.watch === undefined) return;
      await doesNotGrow('watch', async (number) => {
        const kept = longText(number);
        const stop = await store.watch?.({ taskDir, dispatchId }, () => void kept.length);
        stop?.();
      });
    },
  },
]);
