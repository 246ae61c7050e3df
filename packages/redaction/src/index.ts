export {
  createRedactor,
  type RedactedText,
  type RedactedValue,
  type Redactor,
  type RedactorOptions,
} from './create-redactor.ts';
export { differsInSecretsOnly } from './differs-in-secrets.ts';
export type { RecordFinding, RecordKind, SecretFinding } from './find-secrets.ts';
export { redactSource } from './redact-source.ts';
export { redactionErrors } from './redaction-errors.ts';
export type { OwnPatterns } from './search/own-patterns.ts';
export { type UnreadContent, UnreadContents } from './unread-contents.ts';
