import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';

/**
 * For each line on stdin, tries to claim the dispatch and append one event, and prints the outcome. Keeps the store open.
 * Arguments: root, task, dispatch, ignored, lease.
 */
const [, , root = '', taskDir = '', dispatchId = '', , leaseMs = '15000'] = process.argv;
const store = openJsonFileStore({ root, leaseMs: Number(leaseMs) });
process.stdout.write('ready\n');

process.stdin.on('data', () => {
  const id = `from-${process.pid}`;
  try {
    const timestamp = '2026-03-01T09:30:00.000Z';
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, { id, type: 'test:event', timestamp, data: {} });
    process.stdout.write('appended\n');
  } catch (error) {
    process.stdout.write(`${storeErrors.is(error) ? error.code : error}\n`);
  }
});
