import { storeErrors } from '@hansard/provider';
import type { StoreUnderTest } from '../../src/index.ts';
import { createModelStore } from '../../src/model/model-store.ts';
import { modelCapabilities } from '../open-model.ts';

/** A store that cannot read pages yet, and says so; and whose list of tasks is wrong, which it does not say. */
const store: StoreUnderTest = {
  capabilities: { ...modelCapabilities, durability: 'memory' },
  create: () => {
    const model = createModelStore();
    const readEvents = () => {
      throw storeErrors.error('STORE_UNSUPPORTED', 'Not written yet.');
    };
    return { store: { ...model, readEvents, listTasks: () => [] }, dispose: () => {} };
  },
  knownGaps: { 'pages/walk': 'pages are not written yet', 'tasks/replaced': 'tasks are not listed yet' },
};

// biome-ignore lint/style/noDefaultExport: the command reads the default export
export default store;
