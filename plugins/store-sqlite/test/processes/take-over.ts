/**
 * Opens the store, prints `ready`, waits for a line, claims the dispatch and appends an event with the id of its process. Prints
 * `taken`, or the code of the error. Keeps the store open until its input ends. Arguments: the database, the dispatch.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { storeErrors } from '@hansard/provider';
import { taskDir, textEvent } from '@hansard/testing/store-samples';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path });
store.listTasks();
const input = createInterface({ input: process.stdin });
input.once('line', () => {
  try {
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, textEvent(`z${process.pid}`));
    writeSync(1, 'taken\n');
  } catch (error) {
    writeSync(1, `${storeErrors.is(error) ? error.code : error}\n`);
  }
});
input.once('close', () => store.close());
writeSync(1, 'ready\n');
