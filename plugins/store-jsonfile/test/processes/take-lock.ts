import { isStoreError } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';

/** Waits for a line on stdin, tries to claim the dispatch and append one event, prints the outcome, and keeps the store open. */
const [, , root = '', taskDir = '', dispatchId = ''] = process.argv;
const store = openJsonFileStore({ root });
process.stdout.write('ready\n');

process.stdin.once('data', () => {
  const id = `from-${process.pid}`;
  try {
    const timestamp = '2026-03-01T09:30:00.000Z';
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, { id, type: 'test:event', timestamp, data: {} });
    process.stdout.write('appended\n');
  } catch (error) {
    process.stdout.write(`${isStoreError(error) ? error.code : error}\n`);
  }
});
