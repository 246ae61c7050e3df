/**
 * Makes each call that writes, and stops itself with SIGSTOP before the commit of each. Prints the name of the call before it stops.
 * Arguments: the database.
 */
import { writeSync } from 'node:fs';
import type { TaskRecord } from '@hansard/events';
import { envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { openStoreOn } from '../../src/sqlite-store.ts';
import { SimulatedDatabase } from '../simulation/simulated-database.ts';

const [path = ''] = process.argv.slice(2);
const dispatchId = 'of-the-stopped';
let call = '';
const stopBeforeCommit = (sql: string) => {
  if (sql !== 'COMMIT' || call === '') return sql;
  writeSync(1, `${call}\n`);
  call = '';
  process.kill(process.pid, 'SIGSTOP');
  return sql;
};
const store = openStoreOn(
  { path },
  {
    openDatabase: (location, options) =>
      new SimulatedDatabase(location, options, (work) => work(), stopBeforeCommit),
  },
);
const calls: Readonly<Record<string, () => unknown>> = {
  createDispatch: () => store.createDispatch(taskDir, envelope({ dispatchId })),
  appendEvents: () => store.appendEvents(taskDir, dispatchId, growingEvents(20)),
  searchEvents: () => store.searchEvents('text', { taskDir }),
  updateDispatch: () => store.updateDispatch(taskDir, dispatchId, { title: 'A title' }),
  rewriteDispatch: () =>
    store.rewriteDispatch(taskDir, dispatchId, {
      envelope: (one) => one,
      event: (one) => ({ ...one, data: { text: 'redacted' } }),
      notice: () => textEvent('notice'),
    }),
  releaseDispatch: () => store.releaseDispatch(taskDir, dispatchId),
  claimDispatch: () => store.claimDispatch(taskDir, dispatchId),
  acceptLoss: () => store.acceptLoss(taskDir, dispatchId, textEvent('loss')),
  breakClaim: () => store.breakClaim(taskDir, 'of-the-other'),
  putTask: () => store.putTask(taskDir, { title: 'A task' } as unknown as TaskRecord),
  deleteDispatch: () => store.deleteDispatch(taskDir, dispatchId),
};
for (const [name, make] of Object.entries(calls)) {
  call = name;
  make();
}
writeSync(1, 'end\n');
