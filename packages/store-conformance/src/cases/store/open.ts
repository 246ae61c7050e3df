import { dispatchId, prepareStore, taskDir } from '../../checks/prepared-store.ts';
import { storeOperations } from '../../checks/store-operations.ts';
import { caseFamily } from '../../run/conformance-case.ts';

export const openCases = caseFamily(
  'open',
  storeOperations.map((operation) => ({
    name: operation.name,
    rule: null,
    title: `${operation.method} works on an open store`,
    needs: operation.needs,
    run: async ({ store }) => {
      await prepareStore(store);
      await operation.verify(await operation.call(store, taskDir, dispatchId), store);
    },
  })),
);
