import type { DispatchEnvelope, EventOf, ModelUsage, OpenCall } from '@hansard/events';
import { specialTerms } from './call-terms.ts';
import { addRows, rowKey } from './model-usages.ts';
import { addAmounts, addUsage, tokensOf } from './tokens-of.ts';

type Figures = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models' | 'prices' | 'openCalls'>;

/**
 * An envelope whose figures include its open calls, as if each were its `agent:inference` event already, and without open
 * calls. Every sum over envelopes begins here. The same envelope if it has none.
 */
export function withOpenCalls<E extends Figures>(envelope: E): E {
  const calls = envelope.openCalls ?? [];
  if (calls.length === 0) return envelope;
  return calls.reduce(addCall, { ...envelope, openCalls: null });
}

function addCall<E extends Figures>(envelope: E, { usage: used, prices }: OpenCall): E {
  const { usage, cost, models, prices: before } = envelope;
  return {
    ...envelope,
    // Turns and duration are those up to a statement of the log, which this call follows.
    usage: usage === null ? tokensOf(used) : addUsage(usage, used),
    cost: used.costUsd === undefined ? cost : addAmounts(cost ?? 0, used.costUsd),
    models: addModel(models ?? [], used),
    prices: before ?? prices,
  };
}

function addModel(models: readonly ModelUsage[], used: ModelUsage): ModelUsage[] {
  const at = models.findIndex((row) => rowKey(row) === rowKey(used));
  const before = models[at];
  return before === undefined ? [...models, used] : models.with(at, addRows(before, used));
}

/** The events that the open calls of an envelope become, for a fold over events. Those that the log has are left out. */
export function openCallEvents(
  { openCalls }: Pick<DispatchEnvelope, 'openCalls'>,
  isInLog: (id: string) => boolean,
): EventOf<'agent:inference'>[] {
  return (openCalls ?? [])
    .filter(({ id }) => !isInLog(id))
    .map(({ id, agentId, messageId, timestamp, usage: { model, costUsd, ...usage } }) => ({
      id,
      type: 'agent:inference',
      timestamp,
      ...(agentId === undefined ? {} : { agentId }),
      ...(messageId === undefined ? {} : { messageId }),
      data: {
        model,
        usage: { ...tokensOf(usage), ...specialTerms(usage) },
        ...(costUsd === undefined ? {} : { costUsd }),
      },
    }));
}
