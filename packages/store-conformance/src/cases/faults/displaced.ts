import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { refuses } from '../../checks/expectations.ts';
import { dispatchId, prepareStore, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent } from '../../checks/sample-data.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, skipCase } from '../../run/conformance-case.ts';
import type { Displacement } from '../../run/store-fixture.ts';

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
