export { type RedactedDispatch, redactDispatches } from './redact-dispatches.ts';
export { type ScanItem, type ScannedDispatch, type StoredSecret, scanSecrets } from './scan-secrets.ts';
export { type VerifiedDispatch, type VerifyScope, verifyDispatches } from './verify-dispatches.ts';
