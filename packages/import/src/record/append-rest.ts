import type { Dispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { isStoreError, type LogRest, type OpenLog, type ReadOpenLogOptions } from '@hansard/provider';
import type { DispatchTotals, PriceTable } from '@hansard/views';

/**
 * What a log has since its last complete import. Null where it cannot be continued, or where the totals of the envelope
 * were made with other prices.
 */
export async function restOf(
  log: OpenLog,
  { source, models, prices }: DispatchEnvelope,
  table: PriceTable | null,
): Promise<LogRest | null> {
  if (source?.kept === undefined || log.continueAfter === undefined) return null;
  const isSameTable = prices?.name === table?.name && prices?.version === table?.version;
  return isSameTable || models === null ? ((await log.continueAfter(source.kept)) ?? null) : null;
}

/**
 * Appends the rest of a log. False if the log has to be read as a whole: the rest refers to something before it, or an event
 * of it is already stored.
 */
export async function appendRest(
  dispatch: Dispatch,
  rest: LogRest,
  options: ReadOpenLogOptions,
  totals: DispatchTotals,
): Promise<boolean> {
  try {
    for await (const events of rest.read(options)) {
      if (options.signal?.aborted) return true;
      await dispatch.append(events);
      for (const event of events) totals.observe(event);
    }
  } catch (error) {
    if (isStoreError(error, 'STORE_EVENT_CONFLICT')) return false;
    throw error;
  }
  if (options.signal?.aborted) return true;
  return !rest.isLost() && (await dispatch.count()) === rest.summary().events;
}
