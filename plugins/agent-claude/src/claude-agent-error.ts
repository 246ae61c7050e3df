import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events';

/** Why a live agent could not run. When each one is thrown, and what to do: `docs/errors.md`. */
export const claudeAgentErrorCodes = [
  'AGENT_SDK_MISSING',
  'AGENT_ENGINE_MISSING',
  'AGENT_CWD_MISSING',
  'AGENT_NOT_LOGGED_IN',
  'AGENT_SESSION_MISSING',
  'AGENT_ENGINE_FAILED',
] as const;

export type ClaudeAgentErrorCode = (typeof claudeAgentErrorCodes)[number];

export class ClaudeAgentError extends CodedError<ClaudeAgentErrorCode> {}

export const isClaudeAgentError: ErrorGuard<ClaudeAgentError> = createErrorGuard(claudeAgentErrorCodes);
