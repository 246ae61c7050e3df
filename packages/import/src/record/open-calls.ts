import type { Dispatch } from '@hansard/dispatch';
import type { DispatchEnvelope, EventOf, OpenCall } from '@hansard/events';
import { factsOf, type PriceTable } from '@hansard/facts';
import type { LogSummary } from '@hansard/provider';

/** The open calls of a log, with estimates from a table. Null: it has none. */
export function openCallsOf({ openCalls = [] }: LogSummary, table: PriceTable | null): OpenCall[] | null {
  return listed(openCalls.flatMap((event) => openCallOf(event, table)));
}

/**
 * The open calls of a dispatch after an import of a copy that lacks some of its events: those of the copy and those that the
 * dispatch had, without the calls that are events. Of two states of a call, the larger one counts.
 */
export async function openCallsBeside(
  dispatch: Dispatch,
  summary: LogSummary,
  table: PriceTable | null,
  before: DispatchEnvelope | null,
): Promise<OpenCall[] | null> {
  const calls = new Map((before?.openCalls ?? []).map((call) => [call.id, call]));
  for (const call of openCallsOf(summary, table) ?? []) {
    const known = calls.get(call.id);
    if (known === undefined || known.usage.outputTokens <= call.usage.outputTokens) calls.set(call.id, call);
  }
  if (calls.size === 0) return null;
  for await (const { event } of dispatch.events({ types: ['agent:inference'] })) calls.delete(event.id);
  return listed([...calls.values()]);
}

function openCallOf(event: EventOf<'agent:inference'>, table: PriceTable | null): OpenCall[] {
  const { id, agentId, messageId, timestamp } = event;
  const { models, prices } = factsOf([event], { prices: table });
  return (models ?? []).map((usage) => ({
    id,
    ...(agentId === undefined ? {} : { agentId }),
    ...(messageId === undefined ? {} : { messageId }),
    timestamp,
    usage,
    prices,
  }));
}

function listed(calls: readonly OpenCall[]): OpenCall[] | null {
  return calls.length === 0 ? null : [...calls];
}
