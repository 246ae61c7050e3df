import { dispatchId, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { codeOf, openClaimed, type openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const idsOf = (store: ReturnType<typeof openStore>) =>
  store.getDispatchEvents(taskDir, dispatchId).map((event) => event.id);

describe('an id that is already stored', () => {
  it('is skipped wherever it is in a dispatch of growing ids', () => {
    const store = storeWithDispatch();
    const events = growingEvents(100);
    store.appendEvents(taskDir, dispatchId, events);
    for (const event of events) store.appendEvent(taskDir, dispatchId, event);
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual(events);
  });

  it('is a conflict with other content, before and after ids stopped growing', () => {
    const store = storeWithDispatch();
    store.appendEvents(taskDir, dispatchId, growingEvents(10));
    const other = textEvent('e000004', 'other words');
    expect(codeOf(() => store.appendEvent(taskDir, dispatchId, other))).toBe('STORE_EVENT_CONFLICT');
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(codeOf(() => store.appendEvent(taskDir, dispatchId, other))).toBe('STORE_EVENT_CONFLICT');
    expect(store.getDispatchEvents(taskDir, dispatchId)).toHaveLength(11);
  });

  it('is the same event when only the order of its keys differs', () => {
    const store = storeWithDispatch();
    const event = textEvent('a');
    store.appendEvent(taskDir, dispatchId, { ...event, data: { one: 1, two: { x: 'x', y: 'y' } } });
    store.appendEvent(taskDir, dispatchId, { ...event, data: { two: { y: 'y', x: 'x' }, one: 1 } });
    expect(idsOf(store)).toEqual(['a']);
  });

  it('is recognised after the store was closed, including when ids do not grow', () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    const ids = ['m', 'c', 'x', 'a', 'k'];
    store.appendEvents(
      taskDir,
      dispatchId,
      ids.map((id) => textEvent(id)),
    );
    store.close();
    const reopened = openClaimed(path);
    for (const id of [...ids, 'b', 'z', ...ids]) reopened.appendEvent(taskDir, dispatchId, textEvent(id));
    expect(idsOf(reopened)).toEqual([...ids, 'b', 'z']);
  });

  it('rejects the whole batch when one of its events is a conflict', () => {
    const store = storeWithDispatch();
    store.appendEvents(taskDir, dispatchId, growingEvents(3));
    const batch = [textEvent('f'), textEvent('b'), textEvent('e000001', 'other words')];
    expect(codeOf(() => store.appendEvents(taskDir, dispatchId, batch))).toBe('STORE_EVENT_CONFLICT');
    store.appendEvent(taskDir, dispatchId, textEvent('f'));
    expect(idsOf(store)).toEqual(['e000000', 'e000001', 'e000002', 'f']);
  });
});
