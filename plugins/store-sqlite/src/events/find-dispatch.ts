import { dispatchNotFound } from '@hansard/store-kit';
import type { FoundRow, Statements } from '../database/statements.ts';
import { corrupt } from '../sqlite-errors.ts';

/** @throws STORE_DISPATCH_NOT_FOUND; STORE_CORRUPT if the dispatch has fewer events than it had before */
export function findDispatch(
  statements: Statements,
  taskDir: string,
  dispatchId: string,
  file: string,
): FoundRow {
  const found = statements.findDispatch.get(taskDir, dispatchId);
  if (found === undefined) throw dispatchNotFound(taskDir, dispatchId);
  if (found.length >= found.leastEvents) return found;
  throw corrupt(file, `dispatch ${dispatchId} had ${found.leastEvents} events and has only ${found.length}`, {
    details: { dispatchId, position: found.length },
  });
}
