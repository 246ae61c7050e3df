import { answerCases } from './cases/beside/answers.ts';
import { neighbourCases } from './cases/beside/neighbours.ts';
import { richCases } from './cases/beside/rich.ts';
import { sizeCases } from './cases/beside/sizes.ts';
import { claimCases } from './cases/claims/claim-table.ts';
import { claimAtOnceCases } from './cases/claims/claims-at-once.ts';
import { damageCases } from './cases/damage/damage.ts';
import { deleteCases, dispatchCases } from './cases/dispatches/dispatches.ts';
import { envelopeCases } from './cases/dispatches/envelopes.ts';
import { listedCases } from './cases/dispatches/listed.ts';
import { listingCases, taskCases } from './cases/dispatches/listings.ts';
import { nameCases, pathCases } from './cases/dispatches/names.ts';
import { newerCases } from './cases/dispatches/next-version.ts';
import { rewriteCases } from './cases/dispatches/rewrite.ts';
import { searchCases } from './cases/dispatches/search.ts';
import { watchCases } from './cases/dispatches/watch.ts';
import { faultCases } from './cases/faults/faults.ts';
import { displacedCases, misplacedCases, powerCases } from './cases/faults/from-outside.ts';
import { appendAtOnceCases, appendCases } from './cases/log/appends.ts';
import { idempotenceCases, retryCases } from './cases/log/idempotence.ts';
import {
  longReadCases,
  pageCases,
  positionCases,
  reopenedPositionCases,
  repeatedPositionCases,
} from './cases/log/pages.ts';
import { lastEventCases, readCases } from './cases/log/reads.ts';
import { keptValueCases, valueCases } from './cases/log/values.ts';
import { lostReplyCases } from './cases/network/lost-replies.ts';
import { networkCases } from './cases/network/network.ts';
import { killedCases } from './cases/processes/killed.ts';
import { processCases, racingCases } from './cases/processes/processes.ts';
import { seenClaimCases, watchedCases } from './cases/processes/seen-by-others.ts';
import { modelCases } from './cases/store/model.ts';
import { capabilityCases, closedCases, openCases, reopenedCases } from './cases/store/opened-and-closed.ts';
import { refusalCases } from './cases/store/refusals.ts';
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
  ...newerCases,
  ...pathCases,
  ...closedCases,
  ...refusalCases,
  ...reopenedCases,
  ...reopenedPositionCases,
  ...searchCases,
  ...watchCases,
  ...deleteCases,
  ...rewriteCases,
  ...answerCases,
  ...neighbourCases,
  ...richCases,
  ...sizeCases,
  ...modelCases,
  ...damageCases,
  ...faultCases,
  ...powerCases,
  ...displacedCases,
  ...misplacedCases,
  ...lostReplyCases,
  ...networkCases,
  ...killedCases,
  ...processCases,
  ...racingCases,
  ...seenClaimCases,
  ...watchedCases,
];

/** Every case of the kit, in the order in which they run. */
export const storeConformanceCases: readonly StoreConformanceCase[] = runnableCases.map(
  ({ id, rule, title, needs, atEachDurability }) => ({ id, rule, title, needs, atEachDurability }),
);
