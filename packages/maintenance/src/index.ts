export { type RedactedDispatch, redactDispatches } from './redact-dispatches.ts';
export { type RedactedTask, redactTasks } from './redact-tasks.ts';
export {
  type ScanItem,
  type ScannedDispatch,
  type StoredSecret,
  scanSecrets,
  type UnreadTask,
} from './scan-secrets.ts';
export { type VerifiedDispatch, type VerifyScope, verifyDispatches } from './verify-dispatches.ts';
