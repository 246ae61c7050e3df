import assert from 'node:assert/strict';
import type { ClaimState } from '@hansard/provider';
import { claim, endedEnvelope, late, release, takesNoWrite } from '../../checks/claim-checks.ts';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  beginDispatch,
  dispatchId,
  holdsEvents,
  optionalMethod,
  prepared,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

const needs = ['durability', 'writers'] as const;

/** `findClaim` and `breakClaim` between two openings. */
export const claimStateCases = caseFamily('claims', [
  {
    name: 'state',
    rule: 6,
    title: 'every opening sees whose claim a dispatch has, from its creation to its release',
    needs,
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const own = () => optionalMethod(store, 'findClaim')(taskDir, dispatchId);
      const others = () => optionalMethod(second, 'findClaim')(taskDir, dispatchId);
      await beginDispatch(store);
      sameState(await own(), true);
      sameState(await others(), false);
      await store.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      sameState(await others(), false);
      await release(store);
      sameContent([await own(), await others()], [null, null], 'findClaim of a released dispatch');
      await claim(second);
      sameState(await own(), false);
      sameState(await others(), true);
      await second.close();
      sameContent(await own(), null, 'findClaim after the owner was closed');
    },
  },
  {
    name: 'state-of-an-ended-one',
    rule: 6,
    title: 'a dispatch that was created with another status than running is free',
    needs,
    run: async ({ store }) => {
      await store.createDispatch(taskDir, endedEnvelope);
      sameContent(await optionalMethod(store, 'findClaim')(taskDir, dispatchId), null, 'findClaim');
    },
  },
  {
    name: 'states',
    rule: 6,
    title:
      'the claims of several dispatches are those of each, in the order of the ids, with null for a free and for a missing one',
    needs,
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const ids = ['OWN', 'ENDED', 'FREE', 'OTHER', 'MISSING'];
      for (const id of ids.slice(0, 3)) await store.createDispatch(taskDir, sampleEnvelope(id));
      await second.createDispatch(taskDir, sampleEnvelope('OTHER'));
      // Of another task, with an id that is missing in this one.
      await second.createDispatch(`${taskDir}/below`, sampleEnvelope('MISSING'));
      await store.updateDispatch(taskDir, 'ENDED', { status: 'completed' });
      await store.releaseDispatch(taskDir, 'FREE');
      const own = [true, true, null, false, null];
      for (const [opening, owns] of [
        [store, own],
        [second, own.map((isOwn) => (isOwn === null ? null : !isOwn))],
      ] as const) {
        const expected = new Map(ids.map((id, at) => [id, owns[at] ?? null]));
        const single = async (id: string) =>
          id === 'MISSING' ? null : optionalMethod(opening, 'findClaim')(taskDir, id);
        for (const asked of [ids, ids.toReversed(), ['FREE', 'OTHER', 'FREE', 'OTHER'], [], manyIds(ids)]) {
          const claims = await optionalMethod(opening, 'findClaims')(taskDir, asked);
          sameContent(
            claims.map((one) => one?.isOwn ?? null),
            asked.map((id) => expected.get(id) ?? null),
            `whether findClaims of ${asked.length} ids finds own claims`,
          );
          if (asked.length > ids.length) continue;
          const singles = await Promise.all(asked.map(single));
          sameContent(claims, singles, `findClaims of ${asked.join(', ')}`);
        }
      }
    },
  },
  {
    name: 'broken',
    rule: 6,
    title: 'an opening whose claim was broken gets STORE_LOCKED for every write until it claims again',
    needs,
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const breakClaim = optionalMethod(second, 'breakClaim');
      await beginDispatch(store, prepared.events);
      await breakClaim(taskDir, dispatchId);
      await takesNoWrite(store, 'after its claim was broken');
      sameContent(await optionalMethod(second, 'findClaim')(taskDir, dispatchId), null, 'findClaim');
      await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(second, [...prepared.events, late]);
    },
  },
  {
    name: 'broken-and-taken',
    rule: 6,
    title: 'a broken claim can be taken at once, and the former owner writes nothing, even after its release',
    needs,
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const breakClaim = optionalMethod(second, 'breakClaim');
      await beginDispatch(store, prepared.events);
      const { epoch: before } = await store.claimDispatch(taskDir, dispatchId);
      await breakClaim(taskDir, dispatchId);
      const { epoch: after } = await second.claimDispatch(taskDir, dispatchId);
      assert.ok(after > before, `the epoch is ${after} after ${before}`);
      await second.appendEvent(taskDir, dispatchId, sampleEvent('of-the-second'));
      await takesNoWrite(store, 'after another opening took the broken claim');
      await release(store);
      await second.appendEvent(taskDir, dispatchId, late);
      await release(second);
      await takesNoWrite(store, 'after the new owner released it');
      await holdsEvents(store, [...prepared.events, sampleEvent('of-the-second'), late]);
    },
  },
  {
    name: 'broken-one-only',
    rule: 6,
    title: 'breaking one claim, or none, changes no other claim',
    needs,
    run: async ({ store, openBeside }) => {
      const second = await openBeside();
      const breakClaim = optionalMethod(second, 'breakClaim');
      await beginDispatch(store, prepared.events);
      await store.createDispatch(taskDir, { ...endedEnvelope, dispatchId: 'FREE' });
      await breakClaim(taskDir, 'FREE');
      await breakClaim(taskDir, 'FREE');
      await refuses('STORE_LOCKED', 'claimDispatch', () => claim(second));
      await store.appendEvent(taskDir, dispatchId, late);
      await store.claimDispatch(taskDir, 'FREE');
      await store.appendEvent(taskDir, 'FREE', late);
    },
  },
]);

function sameState(state: ClaimState | null, isOwn: boolean): void {
  const { owner = '', ...rest } = state ?? {};
  sameContent(rest, { isOwn, state: 'running', expiresInMs: null }, 'findClaim');
  assert.ok(owner.includes(String(process.pid)), `the owner is “${owner}”, without the process id`);
}

/** The ids, each after many that do not exist. */
function manyIds(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [...Array.from({ length: 400 }, (_, at) => `NONE-${id}-${at}`), id]);
}
