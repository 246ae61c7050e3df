import { appendCases } from './cases/appends.ts';
import { capabilityCases } from './cases/capabilities.ts';
import { claimCases } from './cases/claims.ts';
import { closedCases } from './cases/closed.ts';
import { deleteCases } from './cases/delete.ts';
import { dispatchCases } from './cases/dispatches.ts';
import { envelopeCases } from './cases/envelopes.ts';
import { idempotenceCases } from './cases/idempotence.ts';
import { lastEventCases } from './cases/last-events.ts';
import { modelCases } from './cases/model.ts';
import { openCases } from './cases/open.ts';
import { pageCases } from './cases/pages.ts';
import { pathCases } from './cases/paths.ts';
import { readCases } from './cases/reads.ts';
import { reopenedCases } from './cases/reopened.ts';
import { searchCases } from './cases/search.ts';
import { sharedCases } from './cases/shared.ts';
import { sharedClaimCases } from './cases/shared-claims.ts';
import { taskCases } from './cases/tasks.ts';
import { valueCases } from './cases/values.ts';
import { watchCases } from './cases/watch.ts';
import type { RunnableCase, StoreConformanceCase } from './conformance-case.ts';

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
