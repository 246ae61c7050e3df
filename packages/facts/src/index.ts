export { AgentRoster, type NamedAgent } from './agents/agent-roster.ts';
export { findNamed, type NamedAnswer } from './agents/find-named.ts';
export { CopyFinder, type SessionCopies, type SessionToCompare, sessionToCompare } from './copies.ts';
export {
  createDispatchFacts,
  type DispatchFacts,
  type FactsOptions,
  factsOf,
  isPricedBy,
} from './dispatch-facts.ts';
export { type LoggedEnd, stops } from './logged-ending.ts';
export { MessageNumbers, numberMessages } from './message-numbers.ts';
export type { Price, PricedCall, PriceTable } from './prices/price-table.ts';
export {
  addFigures,
  type DispatchFigures,
  dispatchDuration,
  figuresOf,
  tokensInWords,
} from './spending/dispatch-figures.ts';
export {
  dayHeading,
  formatCost,
  formatCount,
  formatDay,
  formatDuration,
  formatTime,
  formatTokens,
  formatUsage,
  shortId,
  shortIds,
  timeInZone,
  timeNotRecorded,
} from './spending/format.ts';
export {
  addFigure,
  addSpending,
  costInWords,
  explainEstimates,
  formatSpending,
  modelsInWords,
  nothingSpent,
  type Spending,
  spendingOf,
} from './spending/spending.ts';
export { type FoundTitle, titleOf } from './title-finder.ts';
export { type CallTerms, specialTerms } from './totals/call-terms.ts';
export { isRewritten } from './totals/dispatch-totals.ts';
export { quarterMs } from './totals/period-fold.ts';
export { addAmounts, addCounts } from './totals/sums.ts';
export { openCallEvents, withOpenCalls } from './totals/with-open-calls.ts';
export {
  blockMs,
  type DateKeys,
  dateKeys,
  type LoggedPart,
  LoggedUsage,
  usageBlocks,
} from './usage/logged-usage.ts';
export { addParts, figuresOfDispatch, projectOf, type UsagePart, usageParts } from './usage/usage-parts.ts';
export { callsIn, tokensIn, type UsageFigures, type UsageRow, UsageSums } from './usage/usage-sums.ts';
