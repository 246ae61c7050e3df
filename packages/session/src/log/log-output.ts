import { newOutput } from '@hansard/events';
import type { SessionRecord } from './session-record.ts';

export interface ObservationLinks {
  /** What brought the observation about: the tool call, or several events. */
  readonly cause?: string | readonly string[];
}

/** Logs what an agent observed, as it is now. `recorded` may be left alone: see `SessionLog.append`. */
export function logOutput(
  { log, registry }: SessionRecord,
  agentId: string,
  values: readonly unknown[],
  { cause }: ObservationLinks = {},
): { readonly eventId: string; readonly recorded: Promise<unknown> } {
  registry.getActive(agentId);
  const eventId = log.createId();
  const links = { id: eventId, agentId, ...(cause === undefined ? {} : { cause }) };
  return { eventId, recorded: log.append([newOutput(values, links)]) };
}
