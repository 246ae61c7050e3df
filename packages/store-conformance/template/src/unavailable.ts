import { StoreError } from '@hansard/provider';

/** An error of the file system, as an error of the contract. */
export function unavailable(path: string, cause: unknown): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${path}: ${(cause as Error).message}`, { cause });
}
