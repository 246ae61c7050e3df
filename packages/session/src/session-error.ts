import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/provider';

/** The errors of sessions. When each one is thrown, and what to do: `docs/errors.md`. */
export const sessionErrorCodes = [
  'SESSION_NOT_FULL',
  'SESSION_LOG_INVALID',
  'SESSION_AGENT_NOT_FOUND',
  'SESSION_AGENT_TERMINATED',
  'SESSION_AGENT_BUSY',
  'SESSION_MODEL_FAILED',
  'SESSION_TURN_LIMIT',
  'SESSION_CLOSED',
] as const;

export type SessionErrorCode = (typeof sessionErrorCodes)[number];

export class SessionError extends CodedError<SessionErrorCode> {}

export const isSessionError: ErrorGuard<SessionError> = createErrorGuard(sessionErrorCodes);
