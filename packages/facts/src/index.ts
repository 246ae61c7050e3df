export { AgentRoster, findNamed, type NamedAgent, type NamedAnswer } from './agents/agent-roster.ts';
export { CopyFinder, type SessionCopies, type SessionToCompare, sessionToCompare } from './copies.ts';
export { createDispatchFacts, type DispatchFacts, factsOf, isPricedBy } from './dispatch-facts.ts';
export { type LoggedEnd, stops } from './logged-ending.ts';
export { MessageNumbers, numberMessages } from './message-numbers.ts';
export type { Price, PricedCall, PriceTable } from './prices/price-table.ts';
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
  addFigures,
  addSpending,
  costInWords,
  type DispatchFigures,
  dispatchDuration,
  explainEstimates,
  figuresOf,
  formatSpending,
  modelsInWords,
  nothingSpent,
  type Spending,
  spendingOf,
  tokensInWords,
} from './spending/spending.ts';
export { type FoundTitle, titleOf } from './title-finder.ts';
export { type CallTerms, specialTerms } from './totals/call-terms.ts';
export { isRewritten } from './totals/dispatch-totals.ts';
export { quarterMs } from './totals/period-fold.ts';
export { addAmounts, addCounts } from './totals/tokens-of.ts';
export { openCallEvents, withOpenCalls } from './totals/with-open-calls.ts';
export {
  addParts,
  blockMs,
  type DateKeys,
  dateKeys,
  figuresOfDispatch,
  type LoggedPart,
  LoggedUsage,
  projectOf,
  type UsagePart,
  usageBlocks,
  usageParts,
} from './usage/logged-usage.ts';
export { callsIn, tokensIn, type UsageFigures, type UsageRow, UsageSums } from './usage/usage-sums.ts';
