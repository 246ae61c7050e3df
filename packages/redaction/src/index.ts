export {
  createRedactor,
  differsInSecretsOnly,
  type RedactedText,
  type RedactedValue,
  type Redactor,
  type RedactorOptions,
} from './create-redactor.ts';
export {
  type RecordFinding,
  type RecordKind,
  type SecretFinding,
  type UnreadContent,
  UnreadContents,
} from './find-secrets.ts';
export { redactSource } from './redact-source.ts';
export { redactionErrors } from './search/own-patterns.ts';
