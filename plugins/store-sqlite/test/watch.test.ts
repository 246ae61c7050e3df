import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { createGate, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

it('calls a listener once for all writes of its own store in one turn', async () => {
  const store = storeWithDispatch();
  let calls = 0;
  store.watch({ taskDir, dispatchId }, () => {
    calls += 1;
  });
  store.appendEvent(taskDir, dispatchId, textEvent('a'));
  store.appendEvents(taskDir, dispatchId, [textEvent('b'), textEvent('c')]);
  store.updateDispatch(taskDir, dispatchId, { cost: 1 });
  await Promise.resolve();
  expect(calls).toBe(1);
});

it('calls a listener for appends and updates by another connection, but only to its dispatch', async () => {
  const path = temporaryPath();
  const writer = storeWithDispatch(path);
  writer.createDispatch(taskDir, envelope({ dispatchId: 'another' }));
  const reader = openStore(path, { watchInterval: 2 });
  let callsForAnother = 0;
  reader.watch({ taskDir, dispatchId: 'another' }, () => {
    callsForAnother += 1;
  });
  let reached = createGate();
  reader.watch({ taskDir, dispatchId }, () => reached.open());
  writer.appendEvent(taskDir, dispatchId, textEvent('a'));
  await reached.opened;
  expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  reached = createGate();
  writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
  await reached.opened;
  expect(callsForAnother).toBe(0);
});

it('does not call a listener after it has stopped', async () => {
  const store = storeWithDispatch();
  let calls = 0;
  const stop = store.watch({ taskDir, dispatchId }, () => {
    calls += 1;
  });
  store.appendEvent(taskDir, dispatchId, textEvent('a'));
  stop();
  stop();
  store.appendEvent(taskDir, dispatchId, textEvent('b'));
  await Promise.resolve();
  expect(calls).toBe(0);
});
