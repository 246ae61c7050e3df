export { createRedactor, type RedactedText, type Redactor, type RedactorOptions } from './create-redactor.ts';
