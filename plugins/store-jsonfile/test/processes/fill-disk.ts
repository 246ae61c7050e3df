import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';

/** Appends under a limit on the size of files, and prints the outcome of each step as a line of JSON. */
const [, , root = '', taskDir = '', dispatchId = ''] = process.argv;
const store = openJsonFileStore({ root });
store.claimDispatch(taskDir, dispatchId);

function tryAppend(id: string, length: number, count: number): void {
  const events = Array.from({ length: count }, (_, at) => ({
    id: `${id}-${at}`,
    type: 'test:event' as const,
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { text: 'x'.repeat(length) },
  }));
  let outcome = 'appended';
  try {
    store.appendEvents(taskDir, dispatchId, events);
  } catch (error) {
    outcome = storeErrors.is(error) ? error.code : String(error);
  }
  process.stdout.write(`${outcome} ${store.getDispatchEvents(taskDir, dispatchId).length}\n`);
}

tryAppend('a', 10, 1);
tryAppend('b', 100_000, 1);
tryAppend('c', 1_000, 50);
tryAppend('d', 10, 2);
