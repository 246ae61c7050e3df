import { createChangeListener } from '../../checks/change-listener.ts';
import { sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, optionalMethod, taskDir } from '../../checks/prepared-store.ts';
import { sampleEvent } from '../../checks/sample-data.ts';
import { startProcess } from '../../processes/store-process.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { codeOf } from './other-process.ts';

/** `watch` of what another process changes. */
export const watchedCases = caseFamily('processes', [
  {
    name: 'watched',
    rule: 6,
    title: 'listeners of a dispatch, a task and the whole store are called for an append of another process',
    needs: ['watch', 'durability', 'writers'],
    run: async (context) => {
      const { store } = context;
      await beginDispatch(store);
      await store.releaseDispatch(taskDir, dispatchId);
      const child = await startProcess(context);
      sameContent(codeOf(await child.call('claimDispatch', taskDir, dispatchId)), null, 'the claim');
      for (const [index, scope] of [{ taskDir, dispatchId }, { taskDir }, {}].entries()) {
        const listener = createChangeListener();
        const stop = await optionalMethod(store, 'watch')(scope, listener.listen);
        const reply = await child.call('appendEvent', taskDir, dispatchId, sampleEvent(`event-${index}`));
        sameContent(codeOf(reply), null, 'an append of the other process');
        await listener.calledUntil(`for the scope ${JSON.stringify(scope)}`, async () => {
          const events = await store.getDispatchEvents(taskDir, dispatchId);
          return events.length === index + 1;
        });
        stop();
      }
    },
  },
]);
