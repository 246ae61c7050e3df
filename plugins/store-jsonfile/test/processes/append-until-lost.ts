import { writeSync } from 'node:fs';
import { createIdSource } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';

/**
 * Claims a dispatch, appends some events, prints `stopping`, and stops itself with SIGSTOP. When it is continued, it appends events one by
 * one without a pause, until it loses the dispatch. Then it prints the number of acknowledged events and the code of the error.
 * Arguments: root, task, dispatch, lease.
 */
const [, , root = '', taskDir = '', dispatchId = '', leaseMs = ''] = process.argv;
const store = openJsonFileStore({ root, leaseMs: Number(leaseMs) });
store.claimDispatch(taskDir, dispatchId);
// Records the number of the claim, so that no later write of the head does that.
store.updateDispatch(taskDir, dispatchId, { cost: 1 });
const newId = createIdSource();
let acknowledged = 0;

function append(): void {
  for (let round = 0; round < 1_000; round += 1) {
    const data = { number: acknowledged + 1 };
    store.appendEvent(taskDir, dispatchId, {
      id: newId(),
      type: 'test:event',
      timestamp: '2026-03-01T09:30:00.000Z',
      data,
    });
    acknowledged += 1;
    if (acknowledged !== 5) continue;
    writeSync(1, 'stopping\n');
    process.kill(process.pid, 'SIGSTOP');
  }
  setImmediate(appendUntilLost);
}

function appendUntilLost(): void {
  try {
    append();
  } catch (error) {
    process.stdout.write(`${acknowledged} ${storeErrors.is(error) ? error.code : error}\n`);
    process.stdin.resume();
  }
}

appendUntilLost();
