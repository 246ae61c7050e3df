export { isSystemError, linkIfFree, orMissing, toFileError, withFile } from './file-system.ts';
export {
  createLease,
  encodeLease,
  hasExpired,
  type Lease,
  type LeaseRefusal,
  leaseRefused,
  parseLease,
} from './lease.ts';
export { type MergedCalls, mergeCalls } from './merged-calls.ts';
export { defaultPageLimit, type PageRange, pageRange } from './page-range.ts';
export { canCheck, currentProcess, describeOwner, type ProcessOwner, toOwner } from './process-owner.ts';
export { hasSameContent } from './same-content.ts';
export { splitWords, stringsOf } from './search-text.ts';
export {
  cursorAfterEnd,
  dispatchExists,
  dispatchNotClaimed,
  dispatchNotFound,
  eventConflict,
  storeClosed,
} from './store-refusals.ts';
export { assertDispatchPath, realPath, taskFolderBelow } from './task-path.ts';
