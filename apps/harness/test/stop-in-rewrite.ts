import { writeSync } from 'node:fs';
import { openJsonFileStore } from '@hansard/store-jsonfile';

/**
 * Rewrites a dispatch, and waits for ever at its last event, when a part of the copy is written. It prints `copying` then, and can only be
 * killed. Arguments: root, task, dispatch, the number of events.
 */
const [, , root = '', taskDir = '', dispatchId = '', events = ''] = process.argv;
let count = 0;
openJsonFileStore({ root }).rewriteDispatch(taskDir, dispatchId, {
  envelope: (envelope) => envelope,
  event: (event) => {
    count += 1;
    if (count < Number(events)) return event;
    writeSync(1, 'copying\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return event;
  },
  notice: () => {
    throw new Error('the process was not killed');
  },
});
