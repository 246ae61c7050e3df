import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events/coded-error';

/** The errors of stores. When each one is thrown, and what to do: `docs/errors.md`. */
export const storeErrorCodes = [
  'STORE_DISPATCH_EXISTS',
  'STORE_DISPATCH_NOT_FOUND',
  'STORE_EVENT_CONFLICT',
  'STORE_INVALID_CURSOR',
  'STORE_INVALID_PATH',
  'STORE_LOCKED',
  'STORE_CORRUPT',
  'STORE_UNAVAILABLE',
  'STORE_UNSUPPORTED',
  'STORE_CLOSED',
] as const;

export type StoreErrorCode = (typeof storeErrorCodes)[number];

export class StoreError extends CodedError<StoreErrorCode> {}

export const isStoreError: ErrorGuard<StoreError> = createErrorGuard(storeErrorCodes);
