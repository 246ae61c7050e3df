import { storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '../../src/index.ts';
import { makeEnvelope } from '../envelope.ts';

/**
 * Does everything that opens files in each of some stores, and prints a line of JSON for each store: the code and message
 * by operation. Of the dispatches of the task, `bad` is the one that something may be wrong with. Arguments: task, roots.
 */
const [, , taskDir = '', ...roots] = process.argv;
const task = {
  slug: 'maps',
  name: 'Maps',
  project: 'lab',
  status: 'done',
  created: '2026-03-01T09:30:00.000Z',
};
const event = (id: string) =>
  ({ id, type: 'test:event', timestamp: '2026-03-01T09:30:00.000Z', data: {} }) as const;

function outcomeOf(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    return storeErrors.is(error) ? `${error.code} ${error.message}` : `no code: ${error}`;
  }
}

for (const root of roots) {
  const store = openJsonFileStore({ root });
  const outcomes = {
    envelope: outcomeOf(() => store.getDispatchEnvelope(taskDir, 'bad')),
    events: outcomeOf(() => store.getDispatchEvents(taskDir, 'bad')),
    claim: outcomeOf(() => store.claimDispatch(taskDir, 'bad')),
    append: outcomeOf(() => store.appendEvent(taskDir, 'bad', event('a'))),
    update: outcomeOf(() => store.updateDispatch(taskDir, 'bad', { cost: 1 })),
    create: outcomeOf(() => store.createDispatch(taskDir, makeEnvelope('new'))),
    appendToSibling: outcomeOf(() => {
      store.claimDispatch(taskDir, 'good');
      store.appendEvent(taskDir, 'good', event('b'));
    }),
    readSibling: outcomeOf(() => store.getDispatchEvents(taskDir, 'good')),
    envelopes: outcomeOf(() => store.getDispatchEnvelopes(taskDir)),
    findTask: outcomeOf(() => store.findTask(taskDir)),
    putTask: outcomeOf(() => store.putTask(taskDir, task)),
    listed: store
      .listDispatches({ taskDir })
      .dispatches.map(({ dispatchId, error }) => `${dispatchId} ${error?.code ?? ''}`),
    tasks: store.listTasks().map((listing) => `${listing.taskDir} ${listing.error?.code ?? ''}`),
    close: outcomeOf(() => store.close()),
  };
  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
}
