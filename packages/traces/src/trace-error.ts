import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events';

/** The errors of traces. When each one is thrown, and what to do: `docs/errors.md`. */
export const traceErrorCodes = [
  'TRACE_ENDPOINT_INVALID',
  'TRACE_RECEIVER_FAILED',
  'TRACE_RECEIVER_REJECTED',
] as const;

export type TraceErrorCode = (typeof traceErrorCodes)[number];

export class TraceError extends CodedError<TraceErrorCode> {}

export const isTraceError: ErrorGuard<TraceError> = createErrorGuard(traceErrorCodes);
