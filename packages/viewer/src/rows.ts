export { pageSize } from './page-cache.ts';
export { RowOrder } from './row-order.ts';
export { cutTexts } from './server/cut-texts.ts';
export { type EventAround, eventAround } from './server/event-detail.ts';
export { type Folding, LogRows } from './server/log-rows.ts';
export { treeOf } from './server/tree-of.ts';
