import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type CapturedEvent, type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import { dispatchId, holdsEvents, prepared, prepareStore, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, skipCase } from '../../run/conformance-case.ts';
import type { Displacement } from '../../run/store-under-test.ts';

/** The power is lost between two calls. */
export const powerCases = caseFamily('power', [
  {
    name: 'appends',
    rule: 2,
    title:
      'after a loss of power each event that was acknowledged with durability disk can be read, and the next ones follow them',
    needs: ['durability'],
    run: async (context) => {
      const { lose, random } = powerOf(context);
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
    title: 'after a loss of power each dispatch with acknowledged events can be read, and is listed',
    needs: ['durability'],
    run: async (context) => {
      const { lose, random } = powerOf(context);
      let { store } = context;
      const ids: string[] = [];
      for (let round = 0; round < 12; round += 1) {
        for (let count = 1 + random.below(3); count > 0; count -= 1) {
          const id = `D${String(ids.length).padStart(3, '0')}`;
          await store.createDispatch(taskDir, sampleEnvelope(id));
          await store.appendEvent(taskDir, id, sampleEvent(`of-${id}`));
          ids.push(id);
        }
        store = await lose();
        const listed = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
        sameContent(listed.toSorted(), ids, 'the dispatches after a loss of power');
        for (const id of ids)
          await holdsEvents(store, [sampleEvent(`of-${id}`)], { taskDir, dispatchId: id });
      }
    },
  },
]);

function powerOf(context: CaseContext) {
  const { losePower, capabilities, openBeside } = context;
  if (losePower === undefined) skipCase('the fixture has no `losePower`, which loses power');
  if (capabilities.durability !== 'disk') skipCase('only durability disk covers the loss of power');
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
