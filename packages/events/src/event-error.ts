import { CodedError, createErrorGuard, type ErrorGuard } from './coded-error.ts';

/** The errors of the vocabulary. When each one is thrown, and what to do: `docs/errors.md`. */
export const eventErrorCodes = [
  'EVENT_INVALID',
  'EVENT_NOT_JSON',
  'EVENT_EPHEMERAL',
  'EVENT_ENVELOPE_INVALID',
  'EVENT_TASK_INVALID',
] as const;

export type EventErrorCode = (typeof eventErrorCodes)[number];

export class EventError extends CodedError<EventErrorCode> {}

export const isEventError: ErrorGuard<EventError> = createErrorGuard(eventErrorCodes);
