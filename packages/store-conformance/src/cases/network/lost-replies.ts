import { type CapturedEvent, storeErrors } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleTask } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { batch, Network } from './network-under-test.ts';

/** Makes the call again and again, and loses its first reply, then its second, until a call needs no more of them. */
async function loseEachReply({ proxy }: Network, action: (round: number) => Promise<unknown>): Promise<void> {
  for (let round = 0; round < 40; round += 1) {
    const before = proxy.lost;
    proxy.loseReply(round % 12);
    await action(round);
    if (proxy.lost === before && round >= 11) return;
    proxy.heal();
  }
}

/** The reply of the server is lost after the request has arrived. */
export const lostReplyCases = caseFamily('network', [
  {
    name: 'lost-replies-of-appends',
    rule: 3,
    title: 'an append whose reply was lost is stored once, at the position that its repetition answers',
    run: async (context) => {
      const network = await Network.open(context);
      await network.begin();
      const expected: CapturedEvent[] = [];
      await loseEachReply(network, async (round) => {
        const events = batch(`round-${round}`, 1 + (round % 3));
        const positions = await network.append(events);
        sameContent(
          positions,
          events.map((_, index) => expected.length + index),
          'the positions',
        );
        expected.push(...events);
      });
      await network.holds(expected);
    },
  },
  {
    name: 'repeated-after-many',
    rule: 3,
    title:
      'an append whose reply was lost is still known when it is repeated after 2,500 other events and a new connection',
    run: async (context) => {
      const network = await Network.open(context);
      await network.begin();
      const first = batch('first');
      network.proxy.loseReply(0);
      await network.append(first);
      network.proxy.heal();
      const expected = [...first];
      for (let count = 0; count < 5; count += 1) {
        const events = batch(`later-${count}`, 500);
        await network.append(events);
        expected.push(...events);
      }
      network.proxy.cut();
      network.proxy.heal();
      network.proxy.loseReply(1);
      sameContent(await network.append(first), [0, 1, 2], 'the positions of the repeated append');
      network.proxy.heal();
      await network.holds(expected);
    },
  },
  {
    name: 'lost-replies-of-changes',
    rule: 1,
    title:
      'a creation, a claim, an update, a record, a rewrite and a deletion whose reply was lost have their whole effect when they are repeated, or none',
    run: async (context) => {
      const network = await Network.open(context);
      const { store } = network;
      const isStored = (error: unknown) => storeErrors.is(error, 'STORE_DISPATCH_EXISTS');
      const isGone = (error: unknown) => storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND');
      await loseEachReply(network, async (round) => {
        const id = `LOST-${round}`;
        const envelope = sampleEnvelope(id);
        await network.repeated('createDispatch', () => store.createDispatch(taskDir, envelope), isStored);
        await network.repeated('claimDispatch', () => store.claimDispatch(taskDir, id));
        const updated = await network.repeated('updateDispatch', () =>
          store.updateDispatch(taskDir, id, { title: `title ${round}` }),
        );
        sameContent(updated, { ...envelope, title: `title ${round}` }, 'updateDispatch');
        await network.append(batch('of-it', 2), id);
        await network.repeated('putTask', () => store.putTask(taskDir, sampleTask(`task-${round}`)));
        sameContent(
          await network.repeated('findTask', () => store.findTask(taskDir)),
          sampleTask(`task-${round}`),
          'findTask',
        );
        await network.repeated('releaseDispatch', () => store.releaseDispatch(taskDir, id));
        if (store.deleteDispatch === undefined) return;
        const deletion = () => store.deleteDispatch?.(taskDir, id);
        if (await network.failsOrAnswers('deleteDispatch', deletion)) {
          const left = await network.repeated(
            'getDispatchEvents',
            () => store.getDispatchEvents(taskDir, id),
            isGone,
            0,
          );
          sameContent(left ?? batch('of-it', 2), batch('of-it', 2), 'what a failed deletion has left');
          await network.repeated('deleteDispatch', deletion, isGone, 0);
        }
        const found = await network.repeated('getDispatchEnvelope', () =>
          store.getDispatchEnvelope(taskDir, id),
        );
        sameContent(found, null, 'a deleted dispatch');
      });
    },
  },
  {
    name: 'lost-replies-of-rewrites',
    rule: null,
    title: 'a rewrite whose reply was lost has its whole effect or none, and can be made again',
    needs: ['rewrite'],
    run: async (context) => {
      const network = await Network.open(context);
      await network.begin();
      await network.append(batch('event', 4));
      let title = '';
      const formOf = (text: string) => batch('event', 4).map((event) => ({ ...event, data: { text } }));
      await loseEachReply(network, async (round) => {
        const rewrite = () =>
          optionalMethod(network.store, 'rewriteDispatch')(taskDir, dispatchId, {
            envelope: (envelope) => ({ ...envelope, title: `round ${round}` }),
            event: (event) => ({ ...event, data: { text: `round ${round}` } }),
          });
        if (await network.failsOrAnswers('rewriteDispatch', rewrite)) {
          const envelope = await network.repeated('getDispatchEnvelope', () =>
            network.store.getDispatchEnvelope(taskDir, dispatchId),
          );
          const isNew = envelope?.title === `round ${round}`;
          await network.holds(
            isNew || round > 0 ? formOf(isNew ? `round ${round}` : title) : batch('event', 4),
          );
          await network.repeated('rewriteDispatch', rewrite);
        }
        title = `round ${round}`;
        await network.holds(formOf(title));
      });
    },
  },
]);
