import type { DispatchStoreProvider } from '@hansard/provider';
import type { StoreUnderTest } from '../../src/index.ts';
import { createModelStore } from '../../src/model/model-store.ts';
import { modelCapabilities } from '../open-model.ts';

/** Ends the process with a task record, hangs without a last event, leaves a rejection with a conflict, and keeps a timer. */
function breaking(model: ReturnType<typeof createModelStore>): DispatchStoreProvider {
  return {
    ...model,
    putTask: (taskDir, task) => {
      if (task.status === 'done') process.exit(7);
      model.putTask(taskDir, task);
    },
    getRecentEvents: (taskDir, dispatchId, count) =>
      count === 0 ? new Promise(() => {}) : model.getRecentEvents(taskDir, dispatchId, count),
    appendEvent: (taskDir, dispatchId, event) => {
      try {
        return model.appendEvent(taskDir, dispatchId, event);
      } catch (error) {
        void Promise.reject(new Error('left behind'));
        throw error;
      }
    },
  };
}

const store: StoreUnderTest = {
  capabilities: { ...modelCapabilities, durability: 'memory' },
  create: () => {
    setInterval(() => {}, 1_000);
    return { store: breaking(createModelStore()), dispose: () => {} };
  },
};

// biome-ignore lint/style/noDefaultExport: the command reads the default export
export default store;
