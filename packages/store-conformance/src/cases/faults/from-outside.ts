import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import {
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchStoreProvider,
  storeErrors,
} from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  prepareStore,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents, sampleTask } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, lacksMeans, skipCase } from '../../run/conformance-case.ts';
import type { Displacement } from '../../run/store-under-test.ts';

/** The power is lost between two calls. */
export const powerCases = caseFamily('power', [
  {
    name: 'appends',
    rule: 2,
    title:
      'after a loss of power each event that was acknowledged with durability disk can be read, and the next ones follow them',
    needs: ['durability'],
    atEachDurability: true,
    run: async (context) => {
      const { lose, random } = await powerOf(context);
      let { store } = context;
      await store.createDispatch(taskDir, prepared.envelope);
      let events: readonly CapturedEvent[] = [];
      for (let round = 0; round < 25; round += 1) {
        const appended = sampleEvents(1 + random.below(6), `round-${round}`).map((event) => ({
          ...event,
          data: { text: 'x'.repeat(random.below(3_000)) },
        }));
        const [first, ...batch] = appended;
        if (first !== undefined) await store.appendEvent(taskDir, dispatchId, first);
        await store.appendEvents(taskDir, dispatchId, batch);
        events = [...events, ...appended];
        store = await lose();
        await holdsEvents(store, events);
        await store.claimDispatch(taskDir, dispatchId);
      }
    },
  },
  {
    name: 'new-dispatches',
    rule: 2,
    title:
      'after a loss of power each dispatch with acknowledged events can be read, and is listed, and each task has its record',
    needs: ['durability'],
    atEachDurability: true,
    run: async (context) => {
      const { lose, random } = await powerOf(context);
      let { store } = context;
      const ids: string[] = [];
      for (let round = 0; round < 12; round += 1) {
        const places = Array.from({ length: round + 1 }, (_, number) => `lab/records/task-${number}`);
        const putRecord = () => store.putTask(places[round] as string, sampleTask(`task-${round}`));
        // What comes last has no later change that could wait for the disk.
        if (round % 2 === 0) await putRecord();
        for (let count = 1 + random.below(3); count > 0; count -= 1) {
          const id = `D${String(ids.length).padStart(3, '0')}`;
          await store.createDispatch(taskDir, sampleEnvelope(id));
          await store.appendEvent(taskDir, id, sampleEvent(`of-${id}`));
          ids.push(id);
        }
        if (round % 2 === 1) await putRecord();
        store = await lose();
        for (const [number, place] of places.entries())
          sameContent(await store.findTask(place), sampleTask(`task-${number}`), `the record of ${place}`);
        const listed = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
        sameContent(listed.toSorted(), ids, 'the dispatches after a loss of power');
        for (const id of ids)
          await holdsEvents(store, [sampleEvent(`of-${id}`)], { taskDir, dispatchId: id });
      }
    },
  },
]);

/** Skips the case for a store whose fixture loses no power. A store that claims `disk` is then not certified. */
async function powerOf(context: CaseContext) {
  const { losePower, capabilities, openBeside, serverSettings } = context;
  if (capabilities.durability !== 'disk') skipCase('only durability disk covers the loss of power');
  const claim = "durability: 'disk'";
  if (losePower === undefined && serverSettings !== undefined) {
    const settings = Object.entries(await serverSettings());
    assert.ok(settings.length > 0, '`serverSettings` names no setting');
    for (const [name, value] of settings)
      assert.ok(typeof value === 'string' && value !== '', `\`serverSettings\` has no value of ${name}`);
    const listed = settings.map(([name, value]) => `${name} = ${value}`).join(', ');
    lacksMeans(claim, `claimed by the server, not certified here (${listed})`);
  }
  if (losePower === undefined) lacksMeans(claim, 'the fixture has no `losePower`, which loses power');
  const random = createRandom(chooseSeed(context.seed));
  return {
    random,
    lose: async () => {
      await losePower(random.below(2 ** 31));
      return openBeside();
    },
  };
}

const ways: readonly Displacement[] = ['moved', 'replaced'];

/** Another program moves or replaces the file of a dispatch that a store is writing. */
export const displacedCases = caseFamily('displaced', [
  {
    name: 'while-writing',
    rule: 7,
    title:
      'a store whose file was moved or replaced acknowledges no write more than 50 ms later: STORE_CORRUPT',
    needs: ['durability'],
    run: (context) =>
      forEachWay(context, async ({ store, displace }) => {
        await displace();
        await setTimeout(60);
        for (let attempt = 0; attempt < 3; attempt += 1) {
          await refuses('STORE_CORRUPT', 'appendEvent to a displaced file', () =>
            store.appendEvent(taskDir, dispatchId, sampleEvent('late')),
          );
          await refuses('STORE_CORRUPT', 'appendEvents to a displaced file', () =>
            store.appendEvents(taskDir, dispatchId, [sampleEvent('late'), sampleEvent('later')]),
          );
        }
        await refuses('STORE_CORRUPT', 'updateDispatch of a displaced file', () =>
          store.updateDispatch(taskDir, dispatchId, { cost: 1 }),
        );
      }),
  },
  {
    name: 'at-close',
    rule: 7,
    title:
      'a store that acknowledged writes to a file that was moved or replaced reports it when it closes, or before',
    needs: ['durability'],
    run: (context) =>
      forEachWay(context, async ({ store, displace }) => {
        await displace();
        let acknowledged = 0;
        let isReported = false;
        for (; acknowledged < 20 && !isReported; acknowledged += 1)
          try {
            await store.appendEvent(taskDir, dispatchId, sampleEvent(`displaced-${acknowledged}`));
          } catch (error) {
            if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
            isReported = true;
          }
        try {
          await store.close();
        } catch (error) {
          if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
          isReported = true;
        }
        assert.ok(isReported, `${acknowledged} appends were acknowledged, and nothing was reported`);
      }),
  },
]);

async function forEachWay(
  context: CaseContext,
  check: (displaced: { store: DispatchStoreProvider; displace(): Promise<void> }) => Promise<void>,
): Promise<void> {
  for (const way of ways)
    await context.withNewStore(async ({ store, displace }) => {
      if (displace === undefined)
        skipCase('the fixture has no `displace`, which moves the file of a dispatch');
      await prepareStore(store);
      try {
        await check({ store, displace: async () => displace(way, taskDir, dispatchId) });
      } catch (cause) {
        throw new Error(`With a file that was ${way}: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
      }
      // A store that has reported nothing yet does so here, and not where the case is cleaned up.
      try {
        await store.close();
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      }
    });
}

const [copied, source, charts] = [
  '01JQ00000000000000000000CC',
  '01JQ00000000000000000000DD',
  'lab/tasks/charts',
];

/** A log has another name than that under which it was written. */
export const misplacedCases = caseFamily('misplaced', [
  {
    name: 'refused',
    rule: 7,
    title:
      'a log that was copied over another one is STORE_MISPLACED for each read and write, and an entry of the listing',
    run: async (context) => {
      const store = await withMisplaced(context, [source], (taskDir) => ({ taskDir, dispatchId: copied }));
      const calls = {
        getDispatchEnvelope: () => store.getDispatchEnvelope(taskDir, copied),
        getDispatchEvents: () => store.getDispatchEvents(taskDir, copied),
        readEvents: () => store.readEvents(taskDir, copied),
        getRecentEvents: () => store.getRecentEvents(taskDir, copied, 1),
        claimDispatch: () => store.claimDispatch(taskDir, copied),
        deleteDispatch: () => store.deleteDispatch?.(taskDir, copied),
        rewriteDispatch: () => store.rewriteDispatch?.(taskDir, copied, unchanged),
        verifyDispatch: () => store.verifyDispatch?.(taskDir, copied),
      };
      for (const [name, call] of Object.entries(calls)) {
        if (typeof store[name as keyof typeof calls] !== 'function') continue;
        await refuses('STORE_MISPLACED', `${name} of a log under another name`, call);
      }
      const { dispatches } = await store.listDispatches({ taskDir });
      // The log is still at its own place, if it was copied.
      const others = dispatches.filter((listing) => listing.dispatchId !== source);
      const listed = others.map((listing) => [listing.dispatchId, listing.error?.code]);
      sameContent(
        listed.toSorted(),
        [
          [dispatchId, undefined],
          [copied, 'STORE_MISPLACED'],
        ],
        'the dispatches and their errors',
      );
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'task',
    rule: 7,
    title: 'the logs of a task with another name are one entry of the listing, and not one for each',
    run: async (context) => {
      const store = await withMisplaced(context, [dispatchId, copied], (_, id) => ({
        taskDir: charts,
        dispatchId: id,
      }));
      const { dispatches } = await store.listDispatches({ taskDir: charts });
      sameContent(
        dispatches.map((listing) => [listing.dispatchId, listing.error?.code]),
        [[null, 'STORE_MISPLACED']],
        'the entries of a renamed task',
      );
    },
  },
  {
    name: 'adopted',
    rule: 7,
    title: 'an adopted log has the id of its place and the same events, can be written, and is adopted once',
    run: async (context) => {
      const store = await withMisplaced(context, [dispatchId, copied], (_, id) => ({
        taskDir: charts,
        dispatchId: id,
      }));
      const adopt = optionalMethod(store, 'adoptDispatches');
      sameContent([...(await adopt(charts, copied))], [copied], 'the adopted dispatches');
      sameContent([...(await adopt(charts))], [dispatchId], 'the other adopted dispatches');
      sameContent([...(await adopt(charts))], [], 'the dispatches that are adopted again');
      for (const id of [dispatchId, copied]) {
        const envelope = await store.getDispatchEnvelope(charts, id);
        assert.equal(envelope?.dispatchId, id, 'The envelope has the id of the place.');
        await store.claimDispatch(charts, id);
        await store.appendEvent(charts, id, sampleEvent('later'));
        await holdsEvents(store, [...prepared.events, sampleEvent('later')], {
          taskDir: charts,
          dispatchId: id,
        });
      }
    },
  },
]);

const unchanged = {
  envelope: (envelope: DispatchEnvelope) => envelope,
  event: (event: CapturedEvent) => event,
};

/** A store whose dispatches with these ids were put elsewhere. `placeOf` gives the place of each. */
async function withMisplaced(
  context: CaseContext,
  ids: readonly string[],
  placeOf: (taskDir: string, id: string) => { readonly taskDir: string; readonly dispatchId: string },
): Promise<DispatchStoreProvider> {
  const { store, misplace } = context;
  if (misplace === undefined) skipCase('the fixture has no `misplace`, which puts a log under another name');
  await prepareStore(store);
  for (const id of [copied, source]) {
    await store.createDispatch(taskDir, sampleEnvelope(id));
    await store.appendEvents(taskDir, id, prepared.events);
  }
  await store.close();
  for (const id of ids) await misplace({ taskDir, dispatchId: id }, placeOf(taskDir, id));
  return context.reopen();
}
