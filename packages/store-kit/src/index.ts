export { ChangeListeners } from './change-listeners.ts';
export {
  checksumLength,
  checksumOf,
  encodeChecksum,
  hasSameContent,
  readChecksum,
  writeChecksum,
} from './checksum.ts';
export {
  isSystemError,
  isTransientSystemError,
  linkIfFree,
  orMissing,
  toFileError,
  withFile,
} from './file-system.ts';
export { HeartbeatTimer, HeartbeatWatch, type LeaseState } from './heartbeat.ts';
export {
  createLease,
  defaultLeaseMs,
  encodeLease,
  hasExpired,
  type Lease,
  leaseRefused,
  parseLease,
  unlockCommand,
} from './lease.ts';
export { type MergedCalls, mergeCalls } from './merged-calls.ts';
export {
  compareListings,
  type ListingKey,
  listingCursor,
  pageOfDispatches,
  placeInTime,
  readListingCursor,
} from './page-of-dispatches.ts';
export { defaultPageLimit, pageRange } from './page-range.ts';
export {
  currentProcess,
  describeOwner,
  type Processes,
  type ProcessOwner,
  systemProcesses,
  toOwner,
} from './process-owner.ts';
export {
  cursorAfterEnd,
  dispatchExists,
  dispatchNotClaimed,
  dispatchNotFound,
  eventConflict,
  knownEnvelope,
  storeClosed,
} from './store-refusals.ts';
export { assertDispatchPath, realPath, taskFolderBelow } from './task-path.ts';
