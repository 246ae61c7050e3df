import { resolve } from 'node:path';
import { handleStream, openDispatchStore, replayDispatch } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import { snapshotText } from '@hansard/events/plain';
import { openScriptedModel } from '@hansard/model-scripted';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createShelfTools, Shelf } from './shelf-tools.ts';

const root = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? 'hansard-data');
const print = (line: string) => void process.stdout.write(`${line}\n`);
const taskDir = 'bakery/tasks/stock-taking';
const store = openDispatchStore(await openJsonFileStore({ root }));

const shelf = new Shelf({ rye: 3, wheat: 1 });
const model = await openScriptedModel({ path: `${import.meta.dirname}/../stock.yaml` });
const tools = [createShelfTools(shelf)];
const session = await openSession({ store, taskDir, model, tools });
const live = handleStream(session.stream(), {
  event: ({ event }) => print(`live    ${event.type}`),
});
await session.root.harken('Sell what customers ask for, and say what is left.');
print(`said    ${await session.root.response()}`);
await session.complete('completed');
await live;

// Later, from the log alone: each look shows what was there at that time, although it is one object that changed.
const log = await store.openDispatch(taskDir, session.dispatchId);
for await (const { event } of replayDispatch(log)) {
  if (!isEventOf(event, 'agent:output')) continue;
  print(`replay  ${event.data.parts.map(snapshotText).join(' ')}`);
}
await store.close();
