export {
  createRedactor,
  type RedactedText,
  type Redactor,
  type RedactorOptions,
  type SecretFinding,
} from './create-redactor.ts';
export type { OwnPatterns } from './own-patterns.ts';
export {
  isRedactionError,
  RedactionError,
  type RedactionErrorCode,
  redactionErrors,
} from './redaction-error.ts';
