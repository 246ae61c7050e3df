import { StoreError } from '@hansard/provider';

/** What the file system said, as an error of the contract. */
export function unavailable(path: string, cause: unknown): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${path}: ${(cause as Error).message}`, { cause });
}
