import { StoreError } from '@hansard/provider';
import type { FoundRow, Statements } from '../database/statements.ts';
import { corrupt } from '../sqlite-errors.ts';

/** @throws STORE_DISPATCH_NOT_FOUND, and STORE_CORRUPT where it has fewer events than it once had */
export function findDispatch(
  statements: Statements,
  taskDir: string,
  dispatchId: string,
  file: string,
): FoundRow {
  const found = statements.findDispatch.get(taskDir, dispatchId);
  if (found === undefined) throw dispatchNotFound(taskDir, dispatchId);
  if (found.length >= found.leastEvents) return found;
  throw corrupt(
    file,
    `dispatch ${dispatchId} had ${found.leastEvents} events and only ${found.length} are found`,
    {
      details: { dispatchId, position: found.length },
    },
  );
}

export function dispatchNotFound(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_NOT_FOUND',
    `Task ${taskDir} has no dispatch ${dispatchId}. Create it before anything is written to it or read from it.`,
    { details: { taskDir, dispatchId } },
  );
}
