import { newOutput, preview } from '@hansard/events';
import { invalidOption } from '../session-errors.ts';
import type { SessionRecord } from './session-record.ts';

export interface ObservationLinks {
  /** The cause of the observation: the tool call, or several events. */
  readonly cause?: string | readonly string[];
}

/** Logs values that an agent observed, as they are now. `recorded` need not be handled: see `SessionLog.append`. */
export function logOutput(
  { log, registry }: SessionRecord,
  agentId: string,
  values: readonly unknown[],
  { cause }: ObservationLinks = {},
): { readonly eventId: string; readonly recorded: Promise<unknown> } {
  registry.getActive(agentId);
  if (!Array.isArray(values))
    throw invalidOption(
      'values',
      `What an agent observed must be a list of values; it is ${preview(values)}.`,
    );
  const eventId = log.createId();
  const links = { id: eventId, agentId, ...(cause === undefined ? {} : { cause }) };
  return { eventId, recorded: log.append([newOutput(values, links)]) };
}
