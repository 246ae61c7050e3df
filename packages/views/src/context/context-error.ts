import type { ErrorGuard } from '@hansard/events';
import { CodedError, createErrorGuard } from '@hansard/events/plain';

/** The errors of context rendering. When each one is thrown, and what to do: `docs/errors.md`. */
export const contextErrorCodes = ['CONTEXT_BUDGET_TOO_SMALL', 'CONTEXT_MANIFEST_UNKNOWN'] as const;

export type ContextErrorCode = (typeof contextErrorCodes)[number];

export class ContextError extends CodedError<ContextErrorCode> {}

export const isContextError: ErrorGuard<ContextError> = createErrorGuard(contextErrorCodes);
