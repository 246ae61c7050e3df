import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { storeErrors } from '@hansard/provider';
import { durableStores } from './durable-stores.ts';

/**
 * Claims a dispatch and prints `claimed`. For each line of its input, appends an event with that id and prints
 * `appended`, or the code of the error. Arguments: the folder of the command, the name of the
 * store, the task, the id of the dispatch, and the lease in milliseconds (15,000).
 */
const [cwd = '', name = '', taskDir = '', dispatchId = '', lease = '15000'] = process.argv.slice(2);
const store = durableStores.find((one) => one.name === name)?.open(cwd, { leaseMs: Number(lease) });
if (store === undefined) throw new Error(`There is no store called ${name}.`);
await store.claimDispatch(taskDir, dispatchId);
writeSync(1, 'claimed\n');
for await (const id of createInterface({ input: process.stdin })) {
  const event = {
    id,
    type: 'agent:text',
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text: id },
  } as const;
  try {
    await store.appendEvent(taskDir, dispatchId, event);
    writeSync(1, 'appended\n');
  } catch (error) {
    writeSync(1, `${storeErrors.is(error) ? error.code : error}\n`);
  }
}
