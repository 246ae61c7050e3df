/**
 * Watches a dispatch, and prints when it begins and when the dispatch has changed. Then it stops watching. Nothing else keeps
 * the process running.
 * Arguments: the database, the task, the dispatch.
 */
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../src/index.ts';

const [path = '', taskDir = '', dispatchId = ''] = process.argv.slice(2);
const store = openSqliteStore({ path, watchInterval: 2 });
const stop = store.watch({ taskDir, dispatchId }, () => {
  stop();
  writeSync(1, 'changed\n');
});
writeSync(1, 'watching\n');
