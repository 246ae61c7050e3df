import { CodedError, isCodedError } from '@hansard/events';

/** The errors of reading a recorded stream. When each one is thrown, and what to do: `docs/errors.md`. */
export const formatErrorCodes = ['FORMAT_EMPTY', 'FORMAT_NOT_JSONL', 'FORMAT_UNREADABLE'] as const;

export type FormatErrorCode = (typeof formatErrorCodes)[number];

export class ClaudeStreamError extends CodedError<FormatErrorCode> {}

export function isClaudeStreamError(value: unknown, code?: FormatErrorCode): value is ClaudeStreamError {
  return isCodedError(value, code) && (formatErrorCodes as readonly string[]).includes(value.code);
}
