import assert from 'node:assert/strict';
import { errorsOf, refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  claim,
  dispatchId,
  holdsEvents,
  late,
  prepared,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvents } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** Calls of two openings at the same time, which have more than one right order and therefore no row of the table. */
export const claimAtOnceCases = [
  ...caseFamily('claims', [
    {
      name: 'claimed-at-once',
      rule: 6,
      title: 'of two openings that claim a dispatch at the same time, exactly one succeeds',
      needs: ['durability', 'writers'],
      run: async ({ store, openBeside }) => {
        const second = await openBeside();
        await store.createDispatch(taskDir, sampleEnvelope(dispatchId, { status: 'completed' }));
        const errors = await errorsOf([() => claim(store), () => claim(second)]);
        assert.equal(errors.length, 1, `${errors.length} of two claims failed, expected one`);
        await refuses('STORE_LOCKED', 'the claim that lost', () => Promise.reject(errors[0]));
        const appends = await errorsOf(
          [store, second].map((opening) => () => opening.appendEvent(taskDir, dispatchId, late)),
        );
        assert.equal(appends.length, 1, `${appends.length} of two appends failed, expected one`);
      },
    },
  ]),
  ...caseFamily('shared', [
    {
      name: 'created-at-once',
      rule: 6,
      title: 'of two openings that create a dispatch at the same time, one succeeds and has the claim',
      needs: ['durability', 'writers'],
      run: async ({ store, openBeside }) => {
        const second = await openBeside();
        const results = await Promise.allSettled(
          [store, second].map(async (opening) => opening.createDispatch(taskDir, prepared.envelope)),
        );
        const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
        assert.equal(winners.length, 1, `${winners.length} of two creations succeeded, expected one`);
        const openings = winners[0] === 0 ? [store, second] : [second, store];
        await openings[0]?.appendEvent(taskDir, dispatchId, late);
        await refuses('STORE_LOCKED', 'claimDispatch of the one that lost', () =>
          claim(openings[1] ?? store),
        );
      },
    },
    {
      name: 'writes-different-dispatches',
      rule: 6,
      title: 'two openings of a store write different dispatches of a task at the same time',
      needs: ['durability', 'writers'],
      run: async ({ store, openBeside }) => {
        const other = await openBeside();
        await beginDispatch(store);
        await other.createDispatch(taskDir, sampleEnvelope('OTHER'));
        const events = sampleEvents(20);
        for (const event of events)
          await Promise.all([
            store.appendEvent(taskDir, dispatchId, event),
            other.appendEvent(taskDir, 'OTHER', event),
          ]);
        for (const reader of [store, other]) {
          await holdsEvents(reader, events);
          await holdsEvents(reader, events, { taskDir, dispatchId: 'OTHER' });
        }
      },
    },
    {
      name: 'pages-beside',
      rule: 6,
      title: 'a reader that follows next beside a writer reads every event once, and each batch whole',
      needs: ['durability', 'writers'],
      run: async ({ store, openBeside }) => {
        const reader = await openBeside();
        await beginDispatch(store);
        const expected = [];
        const walked = [];
        let after = -1;
        for (let turn = 0; turn < 20; turn += 1) {
          const batch = sampleEvents(1 + (turn % 4), `turn-${turn}`);
          expected.push(...batch);
          const [page] = await Promise.all([
            reader.readEvents(taskDir, dispatchId, { after }),
            store.appendEvents(taskDir, dispatchId, batch),
          ]);
          walked.push(...page.events);
          after = page.next;
          const { first: count } = await reader.readEvents(taskDir, dispatchId, { last: 0 });
          assert.equal(
            count,
            expected.length,
            `the reader counts ${count} events, expected ${expected.length}`,
          );
        }
        walked.push(...(await reader.readEvents(taskDir, dispatchId, { after })).events);
        sameContent(walked, expected, 'all pages');
      },
    },
  ]),
];
