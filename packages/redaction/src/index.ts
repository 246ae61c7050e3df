export {
  createRedactor,
  type RedactedText,
  type RedactedValue,
  type Redactor,
  type RedactorOptions,
  type SecretFinding,
} from './create-redactor.ts';
export { differsInSecretsOnly, hasMarker } from './differs-in-secrets.ts';
export type { OwnPatterns } from './own-patterns.ts';
export { type RedactedSource, redactSource } from './redact-source.ts';
export {
  isRedactionError,
  RedactionError,
  type RedactionErrorCode,
  redactionErrors,
} from './redaction-error.ts';
