import { DatabaseSync } from 'node:sqlite';
import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { openStore, temporaryPath } from './temporary-store.ts';

const charts = 'lab/tasks/charts';
const record = { slug: 'maps', name: 'Maps', project: 'lab', status: 'open', created: envelope().startedAt };
const events = ['1', '2', '3'].map((id) => textEvent(id));

/** A database with ended dispatches, in which SQL of another program then changed something. */
function changedBy(sql: string, ids: readonly string[] = [dispatchId]) {
  const path = temporaryPath();
  const store = openStore(path);
  store.putTask(taskDir, record as never);
  for (const id of ids) {
    store.createDispatch(taskDir, envelope({ dispatchId: id, status: 'completed' }));
    store.claimDispatch(taskDir, id);
    store.appendEvents(taskDir, id, events);
    store.releaseDispatch(taskDir, id);
  }
  store.close();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return openStore(path);
}

function errorOf(call: () => unknown): { readonly code?: string; readonly message?: string } {
  try {
    call();
    return {};
  } catch (error) {
    return error as { code: string; message: string };
  }
}

it('a row with another id is STORE_MISPLACED under both names, and the refusal names the command', () => {
  const store = changedBy("UPDATE dispatches SET dispatch_id = 'OTHER'");
  const { code, message } = errorOf(() => store.getDispatchEvents(taskDir, 'OTHER'));
  expect(code).toBe('STORE_MISPLACED');
  expect(message).toContain(`was written as dispatch ${dispatchId} of ${taskDir}`);
  expect(message).toContain(`\`hansard store adopt ${taskDir}/OTHER\``);
  expect(errorOf(() => store.getDispatchEvents(taskDir, dispatchId)).message).toBe(message);
  for (const call of [
    () => store.claimDispatch(taskDir, 'OTHER'),
    () => store.deleteDispatch(taskDir, 'OTHER'),
    () => store.verifyDispatch(taskDir, 'OTHER'),
    () => store.searchEvents('text', { taskDir, dispatchId: 'OTHER' }),
    () => store.searchEvents('text'),
    () => store.breakClaim(taskDir, 'OTHER'),
    () => store.acceptLoss(taskDir, 'OTHER', textEvent('9')),
  ])
    expect(errorOf(call).code).toBe('STORE_MISPLACED');
  expect(store.listDispatches().dispatches.map((listed) => [listed.dispatchId, listed.error?.code])).toEqual([
    ['OTHER', 'STORE_MISPLACED'],
  ]);
  expect(store.findClaims(taskDir, ['OTHER'])).toEqual([null]);
  expect(store.adoptDispatches(taskDir)).toEqual(['OTHER']);
  expect(store.getDispatchEvents(taskDir, 'OTHER')).toEqual(events);
  expect(store.getDispatchEnvelope(taskDir, dispatchId)).toBeNull();
  expect(store.searchEvents('text')).toHaveLength(3);
  expect(store.verifyDispatch(taskDir, 'OTHER').damages).toEqual([]);
});

it.each([
  ['its dispatches alone', "UPDATE dispatches SET task_dir = 'lab/tasks/charts'"],
  [
    'its dispatches and its record',
    "UPDATE dispatches SET task_dir = 'lab/tasks/charts'; UPDATE tasks SET task_dir = 'lab/tasks/charts'",
  ],
])('a task with another name is one refusal, and one call adopts it: %s', (_, sql) => {
  const ids = Array.from({ length: 20 }, (_, index) => `D${String(index).padStart(3, '0')}`);
  const store = changedBy(sql, ids);
  const refusals = () =>
    store.listDispatches().dispatches.map((listed) => [listed.dispatchId, listed.error?.code]);
  expect(refusals()).toEqual([[null, 'STORE_MISPLACED']]);
  const { message } = errorOf(() => store.getDispatchEnvelopes(charts));
  expect(message).toContain('`hansard store adopt lab/tasks/charts');
  expect(store.adoptDispatches(charts, 'D004')).toEqual(['D004']);
  expect(refusals()).toEqual([
    ['D004', undefined],
    [null, 'STORE_MISPLACED'],
  ]);
  expect(store.adoptDispatches(charts)).toHaveLength(19);
  expect(store.getDispatchEnvelopes(charts).map((one) => one.dispatchId)).toEqual(ids);
  expect(store.getDispatchEnvelopes(taskDir)).toEqual([]);
  expect(store.listTasks().map((task) => task.error)).not.toContainEqual(expect.anything());
  store.deleteDispatch(charts, 'D000');
  store.createDispatch(taskDir, envelope({ dispatchId: 'D000' }));
  expect(store.getDispatchEvents(charts, 'D007')).toEqual(events);
  expect(store.listDispatches().dispatches).toHaveLength(20);
});

it('a record of a task with another name is STORE_MISPLACED, and is not replaced', () => {
  const store = changedBy("UPDATE tasks SET task_dir = 'lab/tasks/charts'", []);
  for (const call of [() => store.findTask(charts), () => store.putTask(charts, record as never)])
    expect(errorOf(call).code).toBe('STORE_MISPLACED');
  expect(store.listTasks()).toMatchObject([
    { taskDir: charts, task: null, error: { code: 'STORE_MISPLACED' } },
  ]);
  expect(store.adoptDispatches(charts)).toEqual([]);
  expect(store.findTask(charts)).toEqual(record);
});
