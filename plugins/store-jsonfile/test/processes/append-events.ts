import { createIdSource } from '@hansard/events';
import { openJsonFileStore } from '../../src/index.ts';

/**
 * Claims a dispatch and appends without end, single events and batches of three in turn, and prints `ack COUNT` for the events.
 * Arguments: root, task, dispatch, characters of text per event.
 */
const [, , root = '', taskDir = '', dispatchId = '', length = '10'] = process.argv;
const store = openJsonFileStore({ root });
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
  setImmediate(appendSome);
}

appendSome();
