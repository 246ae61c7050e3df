export { ChangeListeners, type MergedCalls, mergeCalls } from './change-listeners.ts';
export {
  chainStart,
  checksumLength,
  checksumOf,
  encodeChecksum,
  hasSameContent,
  readChecksum,
  writeChecksum,
} from './checksum.ts';
export {
  assertDispatchPath,
  assertNotRemote,
  fileSystemOf,
  isSystemError,
  isTransientSystemError,
  linkIfFree,
  orMissing,
  realPath,
  taskFolderBelow,
  toFileError,
  withFile,
} from './file-system.ts';
export {
  createLease,
  defaultLeaseMs,
  encodeLease,
  HeartbeatTimer,
  HeartbeatWatch,
  hasExpired,
  type Lease,
  type LeaseState,
  leaseRefused,
  parseLease,
  unlockCommand,
} from './lease.ts';
export {
  compareListings,
  countOfPage,
  defaultPageLimit,
  type ListingKey,
  listingCursor,
  mostPageBytes,
  pageOfDispatches,
  pageRange,
  placeInTime,
  readListingCursor,
} from './pages.ts';
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
  dispatchMisplaced,
  dispatchNotClaimed,
  dispatchNotFound,
  eventConflict,
  knownEnvelope,
  knownTask,
  storeClosed,
  writtenByNewer,
} from './store-refusals.ts';
