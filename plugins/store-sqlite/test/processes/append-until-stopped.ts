/**
 * Appends growing events and prints each id when it is acknowledged. Keeps its store open until its input ends.
 * Arguments: the database, the number of events, the dispatch, which it creates if it does not exist.
 */
import { writeSync } from 'node:fs';
import { envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', count = '0', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path });
if (store.getDispatchEnvelope(taskDir, dispatchId) === null)
  store.createDispatch(taskDir, envelope({ dispatchId }));
else store.claimDispatch(taskDir, dispatchId);
for (let position = 0; position < Number(count); position += 1) {
  for (const event of growingEvents(1, position)) {
    store.appendEvent(taskDir, dispatchId, event);
    writeSync(1, `${event.id}\n`);
  }
}
process.stdin.resume().on('end', () => store.close());
