import { appendCases } from './cases/log/appends.ts';
import { capabilityCases } from './cases/store/capabilities.ts';
import { claimCases } from './cases/claims/claims.ts';
import { closedCases } from './cases/store/closed.ts';
import { deleteCases } from './cases/dispatches/delete.ts';
import { dispatchCases } from './cases/dispatches/dispatches.ts';
import { envelopeCases } from './cases/dispatches/envelopes.ts';
import { idempotenceCases } from './cases/log/idempotence.ts';
import { lastEventCases } from './cases/log/last-events.ts';
import { modelCases } from './cases/store/model.ts';
import { openCases } from './cases/store/open.ts';
import { pageCases } from './cases/log/pages.ts';
import { pathCases } from './cases/dispatches/paths.ts';
import { readCases } from './cases/log/reads.ts';
import { reopenedCases } from './cases/store/reopened.ts';
import { searchCases } from './cases/dispatches/search.ts';
import { sharedCases } from './cases/claims/shared.ts';
import { sharedClaimCases } from './cases/claims/shared-claims.ts';
import { taskCases } from './cases/dispatches/tasks.ts';
import { valueCases } from './cases/log/values.ts';
import { watchCases } from './cases/dispatches/watch.ts';
import type { RunnableCase, StoreConformanceCase } from './run/conformance-case.ts';

export const runnableCases: readonly RunnableCase[] = [
  ...capabilityCases,
  ...openCases,
  ...dispatchCases,
  ...claimCases,
  ...appendCases,
  ...idempotenceCases,
  ...readCases,
  ...valueCases,
  ...pageCases,
  ...lastEventCases,
  ...envelopeCases,
  ...taskCases,
  ...pathCases,
  ...closedCases,
  ...reopenedCases,
  ...sharedCases,
  ...sharedClaimCases,
  ...searchCases,
  ...watchCases,
  ...deleteCases,
  ...modelCases,
];

/** Every case of the kit, in the order in which they run. */
export const storeConformanceCases: readonly StoreConformanceCase[] = runnableCases.map(
  ({ id, rule, title, needs }) => ({ id, rule, title, needs }),
);
