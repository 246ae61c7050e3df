import { createIdSource } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';

/**
 * Claims a dispatch and appends without end, single events and batches of three in turn, and prints `ack COUNT` for the events.
 * When it loses the dispatch, it tries each kind of write once more, prints the codes, and keeps the store open.
 * Arguments: root, task, dispatch, characters of text per event, lease.
 */
const [, , root = '', taskDir = '', dispatchId = '', length = '10', leaseMs = '15000'] = process.argv;
const store = openJsonFileStore({ root, leaseMs: Number(leaseMs) });
store.claimDispatch(taskDir, dispatchId);
const newId = createIdSource();
let count = 0;

function nextEvent() {
  count += 1;
  const data = { number: count, text: 'x'.repeat(Number(length)) };
  return { id: newId(), type: 'test:event', timestamp: '2026-03-01T09:30:00.000Z', data } as const;
}

function appendSome(): void {
  for (let round = 0; round < 20; round += 1) {
    store.appendEvent(taskDir, dispatchId, nextEvent());
    store.appendEvents(taskDir, dispatchId, [nextEvent(), nextEvent(), nextEvent()]);
    store.updateDispatch(taskDir, dispatchId, { cost: count, model: `${count}` });
    process.stdout.write(`ack ${count}\n`);
  }
  setImmediate(appendUntilLost);
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return storeErrors.is(error) ? error.code : String(error);
  }
}

function appendUntilLost(): void {
  const codes = [codeOf(appendSome)];
  if (codes[0] === 'none') return;
  codes.push(codeOf(() => store.appendEvent(taskDir, dispatchId, nextEvent())));
  codes.push(codeOf(() => store.appendEvents(taskDir, dispatchId, [nextEvent(), nextEvent()])));
  codes.push(codeOf(() => store.updateDispatch(taskDir, dispatchId, { cost: -1 })));
  process.stdout.write(`${codes.join(' ')}\n`);
  process.stdin.resume();
}

appendUntilLost();
