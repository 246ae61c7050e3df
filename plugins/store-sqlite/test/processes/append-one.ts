/** Tries to append one event and prints the outcome. Arguments: the database, the dispatch. */
import { writeSync } from 'node:fs';
import { storeErrors } from '@hansard/provider';
import { taskDir, textEvent } from '@hansard/testing/store-samples';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path });
try {
  store.claimDispatch(taskDir, dispatchId);
  store.appendEvent(taskDir, dispatchId, textEvent('taken'));
  writeSync(1, 'appended\n');
} catch (error) {
  writeSync(1, `${storeErrors.is(error) ? `${error.code} ${error.message}` : error}\n`);
}
store.close();
