import type { Dispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError, type LogRest, type OpenLog, type ReadOpenLogOptions } from '@hansard/provider';

/** What a log has since its last complete import. Null where it cannot be continued. */
export async function restOf(log: OpenLog, { source }: DispatchEnvelope): Promise<LogRest | null> {
  if (source?.kept === undefined || log.continueAfter === undefined) return null;
  return (await log.continueAfter(source.kept)) ?? null;
}

/**
 * Appends the rest of a log. False if the log has to be read as a whole: the rest refers to something before it, or an event
 * of it is already stored.
 */
export async function appendRest(
  dispatch: Dispatch,
  rest: LogRest,
  options: ReadOpenLogOptions,
): Promise<boolean> {
  try {
    for await (const events of rest.read(options)) {
      if (options.signal?.aborted) return true;
      await dispatch.append(events);
    }
  } catch (error) {
    if (isStoreError(error, 'STORE_EVENT_CONFLICT')) return false;
    throw error;
  }
  if (options.signal?.aborted) return true;
  return !rest.isLost() && (await dispatch.count()) === rest.summary().events;
}
