import type { CapturedEvent } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { createRandom } from '../../model/random.ts';
import { chooseSeed } from '../../model/seed.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily, skipCase } from '../../run/conformance-case.ts';

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
