import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events';

/** The errors of reading a recorded stream. When each one is thrown, and what to do: `docs/errors.md`. */
export const formatErrorCodes = ['FORMAT_EMPTY', 'FORMAT_NOT_JSONL', 'FORMAT_UNREADABLE'] as const;

export type FormatErrorCode = (typeof formatErrorCodes)[number];

export class ClaudeStreamError extends CodedError<FormatErrorCode> {}

export const isClaudeStreamError: ErrorGuard<ClaudeStreamError> = createErrorGuard(formatErrorCodes);
