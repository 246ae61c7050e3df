import { CodedError, createErrorGuard, type ErrorGuard } from './coded-error.ts';

/** The errors of reading other formats. When each one is thrown, and what to do: `docs/errors.md`. */
export const formatErrorCodes = [
  'FORMAT_EMPTY',
  'FORMAT_NOT_JSONL',
  'FORMAT_NO_RECORDS',
  'FORMAT_OTHER_DIALECT',
  'FORMAT_UNREADABLE',
  'FORMAT_MAPPING_INVALID',
  'FORMAT_VERDICT_INVALID',
  'FORMAT_NOT_FULL',
] as const;

export type FormatErrorCode = (typeof formatErrorCodes)[number];

export class FormatError extends CodedError<FormatErrorCode> {}

export const isFormatError: ErrorGuard<FormatError> = createErrorGuard(formatErrorCodes);
