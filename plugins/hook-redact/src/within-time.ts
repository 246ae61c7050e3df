import { createContext, Script } from 'node:vm';

const place = createContext({ work: null as (() => unknown) | null });
const call = new Script('work()');

/**
 * Runs synchronous work, and stops it at the time limit, within a regular expression as well: nothing else in the
 * process can do that. The work is our own code; the context keeps nothing out.
 * @throws an error with the code ERR_SCRIPT_EXECUTION_TIMEOUT at the time limit
 */
export function withinTime<T>(work: () => T, limitMs: number): T {
  place.work = work;
  try {
    return call.runInContext(place, { timeout: limitMs }) as T;
  } finally {
    place.work = null;
  }
}

export function isTimeUp(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
