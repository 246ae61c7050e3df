import { StoreError } from '@hansard/provider';

export function dispatchExists(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_EXISTS',
    `Task ${taskDir} already has a dispatch ${dispatchId}. Use a new id.`,
    { details: { taskDir, dispatchId } },
  );
}

export function dispatchNotFound(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_NOT_FOUND',
    `Task ${taskDir} has no dispatch ${dispatchId}. Create it first.`,
    { details: { taskDir, dispatchId } },
  );
}

export function dispatchNotClaimed(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_LOCKED',
    `Dispatch ${dispatchId} of ${taskDir} is not claimed. Claim it before you write to it.`,
    { details: { taskDir, dispatchId } },
  );
}
