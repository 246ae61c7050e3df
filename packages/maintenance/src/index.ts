export {
  type CopiesElsewhere,
  type FoundContent,
  findContents,
  findCopiesElsewhere,
  type RedactedDispatch,
  type RedactedTask,
  redactDispatches,
  redactTasks,
} from './redact-dispatches.ts';
export {
  type ScanItem,
  type StoredSecret,
  scanSecrets,
} from './scan-secrets.ts';
export {
  compareSeal,
  isSeal,
  type Seal,
  type SealedState,
  sealDispatch,
  type VerifiedDispatch,
  type VerifyScope,
  verifyDispatches,
} from './verify-dispatches.ts';
