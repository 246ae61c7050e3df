import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { canaryGame, canaryMapping } from '@hansard/testing';
import { createStreamsWriter } from '../src/index.ts';

/**
 * A process that plays a game into a store, its live streams and its session logs: it appends one event for each line of its input, and answers with the number
 * of events when the store has acknowledged it. It continues a game that another process began. At the end of the game it ends by itself.
 */
const [root = '', folder = '', seed = ''] = process.argv.slice(2);
const ref = { taskDir: 'village/tasks/game', dispatchId: '01J0000000000000000000000A' };
const store = openDispatchStore(openJsonFileStore({ root }));
const hub = createCommunicationHub(
  [
    createStreamsWriter({
      folder,
      mapping: canaryMapping,
      sessionLogs: ['session-v1', 'session-v2', 'smallchat'],
      isExtended: false,
    }),
  ],
  {
    store,
  },
);
const found = await store.findDispatch(ref);
const dispatch =
  found === null
    ? await store.beginDispatch(
        ref.taskDir,
        { dispatchId: ref.dispatchId, role: 'game', fidelity: 'full' },
        { communication: hub },
      )
    : await store.openDispatch(ref, { write: true, communication: hub });
await hub.start();
hub.dispatchStarted({ taskDir: ref.taskDir, envelope: dispatch.envelope });
const { events } = canaryGame(Number(seed));
const input = createInterface({ input: process.stdin });
let count = await dispatch.count();
process.stdout.write(`${count}\n`);
for await (const _ of input) {
  const event = events[count];
  if (event === undefined) break;
  await dispatch.append(event);
  count += 1;
  if (!process.stdout.write(`${count}\n`)) await once(process.stdout, 'drain');
}
input.close();
await dispatch.end({ status: 'completed' });
hub.dispatchEnded({ taskDir: ref.taskDir, envelope: dispatch.envelope });
await hub.close();
await store.close();
process.exit();
