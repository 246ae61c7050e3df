// Functions for programs that do not show a log: amounts, untrusted text, policies. Loads none of the libraries of the views.
export { findNamed, type NamedAnswer, type Names } from './addresses/find-named.ts';
export { type ContextPolicy, parseContextPolicy } from './context/context-policy.ts';
export { matchesEventType } from './log/matches-event-type.ts';
export { DispatchTotals, isRewritten } from './task/dispatch-totals.ts';
export type { PriceTable } from './task/price-table.ts';
export {
  addSpending,
  explainEstimates,
  formatSpending,
  nothingSpent,
  type Spending,
  spendingOf,
} from './task/spending.ts';
export { formatCost } from './text/format.ts';
export { neutraliseControls, neutraliseControlsInLine } from './text/neutralise-controls.ts';
