/**
 * Creates a dispatch, then appends a growing event for each line of its input, and prints its id, or the error. Arguments: the
 * database, the dispatch.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { storeErrors } from '@hansard/provider';
import { envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path });
store.createDispatch(taskDir, envelope({ dispatchId }));
let position = 0;
for await (const _ of createInterface({ input: process.stdin })) {
  try {
    for (const event of growingEvents(1, position)) {
      store.appendEvent(taskDir, dispatchId, event);
      position += 1;
      writeSync(1, `${event.id}\n`);
    }
  } catch (error) {
    writeSync(1, `${storeErrors.is(error) ? `${error.code} ${error.message}` : error}\n`);
  }
}
store.close();
