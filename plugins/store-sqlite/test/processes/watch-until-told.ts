/**
 * Watches a dispatch, says so, and says when it is told of a change; then it stops watching. Nothing else keeps it alive.
 * Arguments: the database, the task, the dispatch.
 */
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', taskDir = '', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path, watchInterval: 2 });
const stop = store.watchEvents(taskDir, dispatchId, () => {
  stop();
  writeSync(1, 'told\n');
});
writeSync(1, 'watching\n');
