import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { newStores } from './server/stores.ts';

const server = useServer();
const otherTask = 'other/tasks/one';
const lastTask = 'other/tasks/last';

interface Calls {
  readonly onChange: () => void;
  readonly count: number;
  /** Resolves at the first call after `forget`. */
  called(): Promise<void>;
  forget(): void;
}

function newCalls(): Calls {
  let { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    onChange() {
      count += 1;
      resolve();
    },
    called: () => promise,
    forget() {
      count = 0;
      ({ promise, resolve } = Promise.withResolvers<void>());
    },
  };
}

describe.each([
  ['with notifications', {}],
  ['without notifications', { listenUrl: false, pollInterval: 20 }],
] as const)('a store that watches another one, %s', (_, options) => {
  it('calls the listeners of the dispatch, of its task and of the store, and no other ones', async () => {
    const stores = newStores(server());
    const [writer, follower] = [await stores.open(), await stores.open(options)];
    await writer.createDispatch(taskDir, envelope());
    await writer.createDispatch(otherTask, envelope());
    const [own, task, all, other, last] = [newCalls(), newCalls(), newCalls(), newCalls(), newCalls()];
    const stops = [
      await follower.watch({ taskDir, dispatchId }, own.onChange),
      await follower.watch({ taskDir }, task.onChange),
      await follower.watch({}, all.onChange),
      await follower.watch({ taskDir: otherTask, dispatchId }, other.onChange),
      await follower.watch({ taskDir: lastTask }, last.onChange),
    ];
    // Notifications of the creations may arrive late. That of a later change of something else comes after them.
    await writer.createDispatch(lastTask, envelope());
    await last.called();
    const changes = [
      () => writer.appendEvents(taskDir, dispatchId, growingEvents(1)),
      () => writer.updateDispatch(taskDir, dispatchId, { title: 'A title' }),
    ];
    for (const change of changes) {
      for (const calls of [own, task, all, other]) calls.forget();
      await change();
      await Promise.all([own.called(), task.called(), all.called()]);
      expect(other.count).toBe(0);
    }
    for (const calls of [own, task, all]) calls.forget();
    await writer.putTask(taskDir, { taskDir, title: 'Routes' } as never);
    await Promise.all([task.called(), all.called()]);
    for (const calls of [task, all]) calls.forget();
    await writer.createDispatch(taskDir, envelope({ dispatchId: 'new' }));
    await Promise.all([task.called(), all.called()]);
    expect(own.count).toBe(0);
    for (const stop of stops) stop();
  });
});
