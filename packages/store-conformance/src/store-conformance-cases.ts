import { claimCases } from './cases/claims/claim-table.ts';
import { claimAtOnceCases } from './cases/claims/claims-at-once.ts';
import { damageCases } from './cases/damage/damage.ts';
import { deleteCases } from './cases/dispatches/delete.ts';
import { dispatchCases } from './cases/dispatches/dispatches.ts';
import { envelopeCases } from './cases/dispatches/envelopes.ts';
import { listedCases } from './cases/dispatches/listed.ts';
import { listingCases } from './cases/dispatches/listings.ts';
import { nameCases } from './cases/dispatches/names.ts';
import { pathCases } from './cases/dispatches/paths.ts';
import { rewriteCases } from './cases/dispatches/rewrite.ts';
import { searchCases } from './cases/dispatches/search.ts';
import { taskCases } from './cases/dispatches/tasks.ts';
import { watchCases } from './cases/dispatches/watch.ts';
import { displacedCases } from './cases/faults/displaced.ts';
import { faultCases } from './cases/faults/faults.ts';
import { powerCases } from './cases/faults/power.ts';
import { appendCases } from './cases/log/appends.ts';
import { appendAtOnceCases } from './cases/log/appends-at-once.ts';
import { idempotenceCases } from './cases/log/idempotence.ts';
import { keptValueCases } from './cases/log/kept-values.ts';
import { lastEventCases } from './cases/log/last-events.ts';
import { longReadCases } from './cases/log/long-reads.ts';
import { pageCases } from './cases/log/pages.ts';
import { positionCases, reopenedPositionCases, repeatedPositionCases } from './cases/log/positions.ts';
import { readCases } from './cases/log/reads.ts';
import { retryCases } from './cases/log/retries.ts';
import { valueCases } from './cases/log/values.ts';
import { killedCases } from './cases/processes/killed.ts';
import { processCases } from './cases/processes/processes.ts';
import { racingCases } from './cases/processes/racing.ts';
import { seenClaimCases } from './cases/processes/seen-claims.ts';
import { watchedCases } from './cases/processes/watched.ts';
import { capabilityCases } from './cases/store/capabilities.ts';
import { closedCases } from './cases/store/closed.ts';
import { modelCases } from './cases/store/model.ts';
import { openCases } from './cases/store/open.ts';
import { reopenedCases } from './cases/store/reopened.ts';
import type { RunnableCase, StoreConformanceCase } from './run/conformance-case.ts';

export const runnableCases: readonly RunnableCase[] = [
  ...capabilityCases,
  ...openCases,
  ...dispatchCases,
  ...claimCases,
  ...claimAtOnceCases,
  ...appendCases,
  ...appendAtOnceCases,
  ...positionCases,
  ...idempotenceCases,
  ...retryCases,
  ...repeatedPositionCases,
  ...readCases,
  ...valueCases,
  ...keptValueCases,
  ...pageCases,
  ...longReadCases,
  ...lastEventCases,
  ...envelopeCases,
  ...taskCases,
  ...nameCases,
  ...listingCases,
  ...listedCases,
  ...pathCases,
  ...closedCases,
  ...reopenedCases,
  ...reopenedPositionCases,
  ...searchCases,
  ...watchCases,
  ...deleteCases,
  ...rewriteCases,
  ...modelCases,
  ...damageCases,
  ...faultCases,
  ...powerCases,
  ...displacedCases,
  ...killedCases,
  ...processCases,
  ...racingCases,
  ...seenClaimCases,
  ...watchedCases,
];

/** Every case of the kit, in the order in which they run. */
export const storeConformanceCases: readonly StoreConformanceCase[] = runnableCases.map(
  ({ id, rule, title, needs }) => ({ id, rule, title, needs }),
);
